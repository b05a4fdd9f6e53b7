// SPDX-License-Identifier: BSL-1.0
// expect: sharded_tensor() = delete;  // zeros<X>(pool), distribute<X>(pool, data): made in a device_pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
void use() { A a; }
