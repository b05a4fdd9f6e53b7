// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::pending_axis_meets_itself,
// expect: shardwise::einsum_of<shardwise::fixed_string<6>{"i,i->"}>, shardwise::operand_at{0}, shardwise::called<2>{"y"}, shardwise::suggested<28>{"reshard<P<none>>(operand 0)"}>
// expect: shardwise::fixed_string<6>{"i,i->"}>,
// expect: a product is pending over an axis once, and not split over it
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct terms : layout<pod, P<none>, partial<"y">> {};
struct rows : layout<pod, P<"y">> {};
using A = sharded_tensor<float, extents<8>, terms>;
using B = sharded_tensor<float, extents<8>, rows>;
auto use() { return einsum<"i,i->">(abstract<A>(), abstract<B>()); }
