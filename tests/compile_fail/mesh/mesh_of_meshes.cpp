// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_name_is_malformed,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<19>{"z=2, <(no axis)>=0"}>, shardwise::called<10>{"(no axis)"}>
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct pods : mesh<axis<"z", 2>, pod> {};
constexpr index_t devices = pods::devices;
