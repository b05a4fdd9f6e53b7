// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::constraint_needs_communication,
// expect: shardwise::called<11>{"all_to_all"}, shardwise::called<4>{"x,y"}, shardwise::operand_at{0},
// expect-gcc: shardwise::suggested<38>{"reshard<P<cut_once(x, y)>>(operand 0)"}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct tiles : layout<pod, P<by("x", "y")>, partial<>, single_cut> {};
using B = sharded_tensor<float, extents<5>, layout<pod, P<by("x", "y")>, partial<>, uneven>>;
auto use() { return constrain<tiles>(abstract<B>()); }
