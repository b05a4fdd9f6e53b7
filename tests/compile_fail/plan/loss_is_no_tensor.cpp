// SPDX-License-Identifier: BSL-1.0
// expect: broken_rule<shardwise::violation::loss_is_no_number, shardwise::of_types<float
// expect: a loss is one floating-point number, such as sum(x) or mean(x)
// longest-line: 600
#include <shardwise/shardwise.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using X = sharded_tensor<float, extents<4, 3>, layout<pod, P<"data", none>>>;

auto slope(const X& x) {
  return value_and_grad([](const auto&) { return 2.0F; })(x);
}
