// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::axis_name_is_malformed<shardwise::fixed_string<10>{"(no axis)"},
// expect: an axis name is a letter or _ and up to 22 more letters, digits or _
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct pods : mesh<axis<"z", 2>, pod> {};
constexpr index_t devices = pods::devices;
