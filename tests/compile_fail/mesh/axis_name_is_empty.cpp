// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_name_is_malformed,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<10>{"x=2, <>=2"}>>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<10>{"x=2, <>=2"}>
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"", 2>> {};
