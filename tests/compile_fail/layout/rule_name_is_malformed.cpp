// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::axis_name_is_malformed<shardwise::fixed_string<11>{"batch size"},
// expect: shardwise::maps<
#include <shardwise/layout.hpp>
#include <shardwise/layout/logical_axes.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch size", "data">> {};
