// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::axis_is_repeated_in_mesh<shardwise::fixed_string<2>{"x"},
// expect: shardwise::of_text::mesh<shardwise::fixed_string<9>{"x=2, x=4"}>
// expect: the axes of a mesh have different names
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"x", 4>> {};
