// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::element_is_not_supported, shardwise::of_types<unsigned
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct whole : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<8>, whole>;
void f(const A& x, unsigned count) {
  step([](const auto& rows, const auto& times) { return rows * times; })(x, count);
}
