// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::optimizer_state_differs,
// expect: shardwise::of_types<shardwise::optim::adam>>
// longest-line: 850
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct whole : layout<pod, P<none>> {};
struct rows : layout<pod, P<"data", none>> {};
using W = sharded_tensor<float, extents<4>, whole>;
using X = sharded_tensor<float, extents<8, 4>, rows>;

constexpr auto loss = [](const auto& w, const auto& x) { return reshard<P<>>(sum(x * w)); };

void use(W& w, const X& x) {
  auto state = optim::sgd{}.start(w);
  auto learn = step(optim::training_step{loss, optim::adam{}});
  auto now = learn(w, state, 0.1F, x);
}
