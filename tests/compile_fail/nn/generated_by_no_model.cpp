// SPDX-License-Identifier: BSL-1.0
// A model that takes no cache is one error.
// expect: a model that generates is const and called as model(tokens, cache)
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using tokens = sharded_tensor<std::int32_t, extents<8, 5>, rows>;
struct cache {
  tokens seen;
};
struct model {
  sharded_tensor<float, extents<9, 4>, layout<pod, P<none, none>>> table;

  auto operator()(const auto& t) const { return take<0>(table, t); }
};
void use(device_pool& pool, const model& m, cache& kept, const tokens& prompt) {
  const auto texts = nn::generate(pool, m, kept, prompt, 10, {}, random_key{1});
}
