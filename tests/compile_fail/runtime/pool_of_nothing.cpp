// SPDX-License-Identifier: BSL-1.0
// expect: device_pool() = delete;  // device_pool pool{pod{}}: a pool has the devices of a mesh
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
void use() { const device_pool pool; }
