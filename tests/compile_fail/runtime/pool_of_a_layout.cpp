// SPDX-License-Identifier: BSL-1.0
// expect: explicit device_pool(const M&) = delete;  // device_pool pool{pod{}}: a pool is made of a mesh
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
void use() { const device_pool pool{typename A::layout_type{}}; }
