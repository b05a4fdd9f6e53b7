// SPDX-License-Identifier: BSL-1.0
// The tangents cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
// clang-format off
#include <shardwise/shardwise.hpp>
// clang-format on

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;

struct model {
  const Y& other;

  auto layer(const auto& x) const { return x + other; }
  auto operator()(const auto& x) const { return exp(layer(x)); }
};
void use(const X& x, const Y& y) {
  const auto [value, tangent] = jvp(model{y}, x, x);
  std::cout << to_host(relu(value)) << to_host(tangent);
}
