// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_name_is_malformed,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<29>{"<abcdefghijklmnopqrstuvwx>=2"}>, shardwise::called<24>{"abcdefghijklmnopqrstuvw"}, shardwise::size_met{24}, shardwise::size_needed{23}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<29>{"<abcdefghijklmnopqrstuvwx>=2"}>
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"abcdefghijklmnopqrstuvwx", 2>> {};
