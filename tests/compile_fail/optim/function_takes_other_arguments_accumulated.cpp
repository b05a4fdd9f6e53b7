// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_arguments,
// expect: shardwise::size_met{2}, shardwise::suggested<
// expect: {"std::array{batch0, batch1}"}
// expect: the function cannot be called with these arguments, in this order
// longest-line: 2400
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<16, 4>, layout<pod, P<none, none>>>;
inline constexpr auto loss = [](const auto& w, const auto& x) {
  return mean(square(matmul(x, w)));
};
auto use(W& w, const X& x) {
  auto state = optim::adamw{}.start(w);
  const optim::training_step learn{optim::accumulated<"data">(loss), optim::adamw{}};
  return learn(w, state, 0.1F, x);
}
