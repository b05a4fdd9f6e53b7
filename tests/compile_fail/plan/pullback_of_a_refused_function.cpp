// SPDX-License-Identifier: BSL-1.0
// The function of cotangents causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{4}, shardwise::size_needed{6}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct cols : layout<pod, P<none, "model">> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using W = sharded_tensor<float, extents<4, 6>, cols>;
struct layer {
  auto operator()(const auto& x, const auto& w) const { return einsum<"bi,io->bo">(x, w) + x; }
};
auto use(const X& x, const W& w) {
  auto [y, pull] = vjp(layer{}, x, w);
  auto [dx, dw] = pull(y);
  return w - dw;
}
