// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::pending_axis_meets_itself,
// expect: shardwise::pointwise<shardwise::functions::multiply>, shardwise::operand_at{1}, shardwise::called<2>{"y"}, shardwise::suggested<25>{"reshard<P<x>>(operand 1)"}>
// expect: shardwise::functions::multiply>,
// expect: a product is pending over an axis once, and not split over it
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, terms>;
using B = sharded_tensor<float, extents<8>, terms>;
auto use() { return abstract<A>() * abstract<B>(); }
