// SPDX-License-Identifier: BSL-1.0
// expect: distribute<X...>(pool) names one type of tensor for each field of a sample
// expect: 2 == 1
#include <shardwise/data/distribute_batches.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<4, 3>, rows>;
struct sample {
  std::vector<float> image;
  int label;
};
void use(const device_pool& pool, const std::vector<sample>& samples) {
  auto loader = samples | batch(4, last_batch::dropped) | distribute<X>(pool) | prefetch();
}
