// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::device_count_differs,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=4"}>, shardwise::size_met{3}, shardwise::size_needed{4}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=4"}>
// expect: an explicit order has as many devices as its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

inline constexpr index_t ring[] = {0, 1, 2};
struct pod : ordered_mesh<mesh<axis<"x", 4>>, ring> {};
