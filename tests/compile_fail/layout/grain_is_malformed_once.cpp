// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::grain_is_malformed,
// expect: shardwise::P<shardwise::fixed_string<4>{"x*1"}>, shardwise::dimension_at{0}, shardwise::called<3>{"*1"}>
// expect: after its axes an entry may have %block (1 or more), *chunks (2 or more), or *1 for a single cut over several axes
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<cut_once("x")>>;
constexpr layout_desc value = rows::value;
