// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_name_is_malformed,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<7>{"<2x>=2"}>, shardwise::called<3>{"2x"}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<7>{"<2x>=2"}>
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"2x", 2>> {};
