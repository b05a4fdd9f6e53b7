// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::operand_at{0}, shardwise::dimension_at{2}, shardwise::called<2>{"y"}
// expect-gcc: reshard<P<x, none, none, none>>(operand 0)
// expect: or_across<2>{"y"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<8, 3, 32, 32>, layout<pod, P<"x", none, "y", none>>>;
using W = sharded_tensor<float, extents<16, 3, 3, 3>, layout<pod, P<none, none, none, none>>>;
auto use() { return convolution<paddings<1, 1>>(abstract<X>(), abstract<W>()); }
