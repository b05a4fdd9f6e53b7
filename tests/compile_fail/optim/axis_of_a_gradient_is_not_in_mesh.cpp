// SPDX-License-Identifier: BSL-1.0
// The gradients, a nest, cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::called<6>{"batch"}>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct columns : layout<pod, P<none, "model">> {};
struct rows : layout<pod, P<"data", none>> {};
using W = sharded_tensor<float, extents<4, 4>, columns>;
using X = sharded_tensor<float, extents<8, 4>, rows>;
struct parameters {
  W w, v;
};
struct loss {
  auto operator()(const parameters& m, const auto& x) const {
    return sum(einsum<"bi,io->bo">(x, m.w) * einsum<"bi,io->bo">(x, m.v));
  }
};
auto use(const parameters& m, const X& x) {
  auto [value, gradients] = value_and_grad(loss{}, left_pending<"batch">)(m, x);
  return gradients.w + gradients.v * reshard<P<>>(value);
}
