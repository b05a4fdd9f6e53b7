// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::axis_size_is_not_positive<shardwise::fixed_string<2>{"y"}, -4,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<10>{"x=2, y=-4"}>
// expect: an axis of a mesh has at least one device
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", -4>> {};
