// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::grain_is_malformed,
// expect: shardwise::P<shardwise::fixed_string<1>{""}, shardwise::fixed_string<4>{"x%0"}>, shardwise::dimension_at{1}, shardwise::called<3>{"%0"}>
// expect: after its axes an entry may have %block (1 or more), *chunks (2 or more), or *1 for a single cut over several axes
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<none, block_cyclic<0>("x")>>;
constexpr layout_desc value = rows::value;
