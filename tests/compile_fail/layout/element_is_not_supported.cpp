// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::element_is_not_supported,
// expect: char>
// expect: elements are float, double, bfloat16, float16, bool or an integer of 8, 32 or 64 bits
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<char, extents<8>, layout<pod, P<"x">>>;
constexpr auto a = abstract<A>();
