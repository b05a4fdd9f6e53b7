// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_size_is_not_positive,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<9>{"x=2, y=0"}>, shardwise::called<2>{"y"}, shardwise::size_met{0}, shardwise::size_needed{1}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<9>{"x=2, y=0"}>
// expect: an axis of a mesh has at least one device
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 0>> {};
