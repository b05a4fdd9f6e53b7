// SPDX-License-Identifier: BSL-1.0
// expect: numbers with fractions do not become integer elements
#include <shardwise/data/distribute_batches.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data">> {};
using X = sharded_tensor<std::int32_t, extents<4>, rows>;
void use(const device_pool& pool, const std::vector<float>& samples) {
  auto loader = samples | batch(4, last_batch::dropped) | distribute<X>(pool) | prefetch();
}
