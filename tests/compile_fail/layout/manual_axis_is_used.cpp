// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::manual_axis_is_used,
// expect: pod, shardwise::called<5>{"data"}>
// expect: manual axes are in mesh order and neither split a dimension nor are pending
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>, manual<"data">> {};
