// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::einsum_of<shardwise::fixed_string<6>{"i,i->"}>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<2>{"y"}, shardwise::suggested<25>{"reshard<P<x>>(operand 1)"}>
// expect: shardwise::fixed_string<6>{"i,i->"}>,
// expect: corresponding dimensions are split the same way
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct by_x : layout<pod, P<"x">> {};
struct by_y : layout<pod, P<"y">> {};
using A = sharded_tensor<float, extents<8>, by_x>;
using B = sharded_tensor<float, extents<8>, by_y>;
auto use() { return einsum<"i,i->">(abstract<A>(), abstract<B>()); }
