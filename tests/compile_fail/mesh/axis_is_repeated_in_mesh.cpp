// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_repeated_in_mesh,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<9>{"x=2, x=4"}>, shardwise::called<2>{"x"}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<9>{"x=2, x=4"}>
// expect: the axes of a mesh have different names
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"x", 4>> {};
