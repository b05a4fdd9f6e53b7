// SPDX-License-Identifier: BSL-1.0
// expect: void step(const Pool&, Body&&) = delete;  // step(pool, [&] { ... }) in a device_pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using V = sharded_tensor<float, extents<8>, rows>;
void train(const device_pool& pool) {
  step(pool, [](V& w) { w += 1.0F; });
}
