// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::constraint_needs_communication,
// expect: shardwise::of_types<>, shardwise::called<11>{"all_gather"}, shardwise::called<4>{"x,y"}, shardwise::operand_at{0}, shardwise::suggested<28>{"reshard<P<none>>(operand 0)"}>
// expect: a constraint is met without communication; only a reshard moves data
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<by("x", "y")>> {};
using A = sharded_tensor<float, extents<8>, rows>;
auto use() { return relu(constrain<P<none>>(abstract<A>())); }
