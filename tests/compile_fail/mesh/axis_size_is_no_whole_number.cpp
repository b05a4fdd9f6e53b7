// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::axis_size_is_not_positive<shardwise::fixed_string<2>{"x"}, 0,
// expect: an axis of a mesh has at least one device
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2.5>> {};
constexpr index_t devices = pod::devices;
