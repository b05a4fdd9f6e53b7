// SPDX-License-Identifier: BSL-1.0
// An axis with its size first.
// expect: shardwise::broken_rule<shardwise::violation::axis_name_is_malformed,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<18>{"<(number)>=0, y=4"}>, shardwise::called<9>{"(number)"}>
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<2, "x">, axis<"y", 4>> {};
constexpr index_t devices = pod::devices;
