// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_size_is_not_positive,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<4>{"x=0"}>, shardwise::called<2>{"x"}, shardwise::size_met{0}, shardwise::size_needed{1}>
// expect: an axis of a mesh has at least one device
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2.5>> {};
constexpr index_t devices = pod::devices;
