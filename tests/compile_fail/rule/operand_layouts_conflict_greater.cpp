// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_layouts_conflict<shardwise::pointwise<shardwise::functions::greater>,
// expect: shardwise::operand<1>::dimension<0>, shardwise::fixed_string<2>{"y"},
// expect: shardwise::fixed_string<25>{"reshard<P<x>>(operand 1)"}>
// expect: dimensions that meet are split alike
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct by_x : layout<pod, P<"x">> {};
struct by_y : layout<pod, P<"y">> {};
using A = sharded_tensor<float, extents<8>, by_x>;
using B = sharded_tensor<float, extents<8>, by_y>;
auto use() { return abstract<A>() > abstract<B>(); }
