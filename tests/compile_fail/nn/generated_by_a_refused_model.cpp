// SPDX-License-Identifier: BSL-1.0
// The scores cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// longest-line: 500
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct split_rows : layout<pod, P<"model", none>> {};
struct split_columns : layout<pod, P<none, "model">> {};
using tokens = sharded_tensor<std::int32_t, extents<8, 5>, rows>;
struct cache {
  tokens seen;
};
struct model {
  sharded_tensor<float, extents<9, 4>, split_columns> table;
  sharded_tensor<float, extents<4, 9>, split_rows> out;

  auto operator()(const auto& t, auto&) const {
    return relu(einsum<"bsd,dv->bsv">(take<0>(table, t), out));
  }
};
void use(device_pool& pool, const model& m, cache& kept, const tokens& prompt) {
  const auto texts = nn::generate(pool, m, kept, prompt, 10, {}, random_key{1});
}
