// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::device_is_repeated<1,
// expect: shardwise::mesh<shardwise::axis<shardwise::fixed_string<2>{"x"}, 4>>
// expect: a device is in a mesh once
#include <shardwise/layout.hpp>

using namespace shardwise;

inline constexpr index_t ring[] = {0, 1, 1, 3};
struct pod : ordered_mesh<mesh<axis<"x", 4>>, ring> {};
