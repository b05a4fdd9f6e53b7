// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::constraint_needs_communication,
// expect: shardwise::of_types<>, shardwise::called<15>{"reduce_scatter"}, shardwise::called<2>{"y"}, shardwise::operand_at{0}, shardwise::suggested<28>{"reshard<P<x, y>>(operand 0)"}>
// expect: a constraint is met without communication; only a reshard moves data
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct terms : layout<pod, P<"x", none>, partial<"y">> {};
struct columns : layout<pod, P<"x", "y">> {};
using A = sharded_tensor<float, extents<8, 8>, terms>;
struct promise {
  constexpr auto operator()(const auto& a) const { return constrain<columns>(a); }
};
constexpr auto cost = trace(promise{}, abstract<A>());
