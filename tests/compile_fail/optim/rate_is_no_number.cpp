// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::rate_is_no_number,
// expect: shardwise::suggested<15>{"schedule(step)"}>
// expect: the rate of a training step is a number or a tensor of rank 0
// longest-line: 1200
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
  const auto schedule = [](int i) { return 0.1F / static_cast<float>(1 + i); };
  const optim::training_step learn{loss, optim::adamw{}};
  return learn(w, state, schedule, x);
}
