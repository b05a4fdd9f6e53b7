// SPDX-License-Identifier: BSL-1.0
// The map causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{6}, shardwise::size_needed{4}>
// clang-format off
#include <shardwise/shardwise.hpp>
// clang-format on

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using V = sharded_tensor<float, extents<6>, layout<pod, P<none>>>;
struct model {
  V bias;

  auto layer(const auto& row) const { return row + bias; }
  auto operator()(const auto& row) const { return exp(layer(row)); }
};
void use(const model& m, const X& x) {
  const auto made = relu(vmap(m)(x));
  const auto again = relu(vmap<0>(m)(x));
}
