// SPDX-License-Identifier: BSL-1.0
// A pool that two processes share, of headers alone and with no other header: it links.
#include <shardwise/engine/distributed_pool.hpp>

#include <atomic>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

int main() {
  std::atomic<int> seen{0};
  spawn(2, [&] {
    auto pool = distributed_pool(pod{});
    pool.for_each_device([&](index_t) { ++seen; });
  });
  return seen == 8 ? 0 : 1;
}
