// SPDX-License-Identifier: BSL-1.0
// expect: explicit use_mesh(const M&) = delete;  // use_mesh here(pod{}): a mesh, or a device_pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
void use() { const use_mesh here(8); }
