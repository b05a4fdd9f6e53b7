// SPDX-License-Identifier: BSL-1.0
// A program whose processes share the devices of a mesh: one process alone has them all.
#include <shardwise/mpi.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", "model">>>;

int main() {
  const auto pool = distributed_pool(pod{});
  const X x = iota<X>(pool);
  return to_host(reshard<P<>>(sum(x)))() == 496 ? 0 : 1;
}
