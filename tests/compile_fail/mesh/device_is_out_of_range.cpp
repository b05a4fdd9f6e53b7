// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::device_is_out_of_range,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=4"}>, shardwise::size_met{4}, shardwise::size_below{4}>
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=4"}>
// expect: a device is named by a number below the size of the mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

inline constexpr index_t ring[] = {0, 1, 2, 4};
struct pod : ordered_mesh<mesh<axis<"x", 4>>, ring> {};
