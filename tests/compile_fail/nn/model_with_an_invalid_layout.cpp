// SPDX-License-Identifier: BSL-1.0
// What makes the model causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::extent_is_not_divisible,
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"model", 2>> {};
struct split_rows : layout<pod, P<"model", none>> {};
struct model {
  sharded_tensor<float, extents<5, 6>, split_rows> w;
};
void use(device_pool& pool) {
  const auto made = nn::initialise<model>(pool, random_key{1});
  std::cout << to_host(made.w);
}
