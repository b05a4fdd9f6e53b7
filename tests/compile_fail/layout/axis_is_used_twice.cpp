// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_used_twice,
// expect: shardwise::P<shardwise::fixed_string<2>{"x"}, shardwise::fixed_string<2>{"x"}>, shardwise::dimension_at{1}, shardwise::called<2>{"x"}>
// expect: a mesh axis may appear once in a layout
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<"x", "x">>;
constexpr layout_desc value = rows::value;
