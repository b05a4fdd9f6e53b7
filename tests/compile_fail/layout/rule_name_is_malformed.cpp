// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_name_is_malformed,
// expect: shardwise::maps<shardwise::fixed_string<11>{"batch size"}, shardwise::fixed_string<5>{"data"}>, shardwise::called<11>{"batch size"}>
// expect: shardwise::maps<
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch size", "data">> {};
