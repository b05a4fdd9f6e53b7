// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::dimension_at{1}, shardwise::called<2>{"z"}>
// expect: a partition spec may only name axes of its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<"x", "z">>;
constexpr layout_desc value = rows::value;
