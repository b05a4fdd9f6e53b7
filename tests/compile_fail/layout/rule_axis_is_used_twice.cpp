// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_used_twice,
// expect: shardwise::maps<shardwise::fixed_string<6>{"batch"}, shardwise::fixed_string<10>{"data,data"}>, shardwise::called<5>{"data"}>
// expect: shardwise::maps<shardwise::fixed_string<6>{"batch"},
// expect: a mesh axis may appear once in a layout
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", by("data", "data")>> {};
