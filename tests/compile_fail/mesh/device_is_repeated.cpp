// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::device_is_repeated,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=4"}>, shardwise::device_number{1}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=4"}>
// expect: each device appears once in a mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

inline constexpr index_t ring[] = {0, 1, 1, 3};
struct pod : ordered_mesh<mesh<axis<"x", 4>>, ring> {};
