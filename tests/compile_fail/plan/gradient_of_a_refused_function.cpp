// SPDX-License-Identifier: BSL-1.0
// The gradient, and what reads it, cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{4}, shardwise::size_needed{6}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct cols : layout<pod, P<none, "model">> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using W = sharded_tensor<float, extents<4, 6>, cols>;
struct model {
  W w;
};
struct loss {
  auto operator()(const auto& m, const auto& x) const {
    return mean(square(einsum<"bi,io->bo">(x, m.w) + x));
  }
};
auto use(const model& m, const X& x) {
  auto [value, gradients] = value_and_grad<0, 1>(loss{})(m, x);
  auto [dm, dx] = gradients;
  sync(value, dm.w, dx);
  return m.w - 0.1F * dm.w;
}
