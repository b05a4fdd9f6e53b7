// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::spec_is_malformed,
// expect: shardwise::maps<shardwise::fixed_string<6>{"batch"}, shardwise::fixed_string<12>{"data, model"}>, shardwise::called<7>{" model"}>
// expect: shardwise::maps<shardwise::fixed_string<6>{"batch"},
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data, model">> {};
