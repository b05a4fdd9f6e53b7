// SPDX-License-Identifier: BSL-1.0
// The gradient, and what reads it, cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand{1}, shardwise::dimension{1}, shardwise::size_met{4}, shardwise::size_needed{6}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct cols : layout<pod, P<none, "model">> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using W = sharded_tensor<float, extents<4, 6>, cols>;
struct loss {
  auto operator()(const auto& w, const auto& x) const {
    return mean(square(einsum<"bi,io->bo">(x, w) + x));
  }
};
auto use(const W& w, const X& x) {
  auto [value, gradients] = value_and_grad<0, 1>(loss{})(w, x);
  auto [dw, dx] = gradients;
  sync(value, dw, dx);
  return w - 0.1F * dw;
}
