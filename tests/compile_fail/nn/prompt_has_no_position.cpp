// SPDX-License-Identifier: BSL-1.0
// expect: a prompt has a position at least, and their number is known to the compiler
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct whole : layout<pod, P<none, none>> {};
struct scores : layout<pod, P<none, none, none>> {};
using prompt = sharded_tensor<std::int32_t, extents<2, dyn>, whole>;
struct model {
  const device_pool& pool;
  auto operator()(const auto&, auto&) const {
    return zeros<sharded_tensor<float, extents<2, 1, 8>, scores>>(pool);
  }
};
void f(const device_pool& pool, const prompt& tokens) {
  int cache = 0;
  nn::generate(pool, model{pool}, cache, tokens, 4, nn::sampling{}, random_key{1});
}
