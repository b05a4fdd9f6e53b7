// SPDX-License-Identifier: BSL-1.0
// The state and the step have the same mistake.
// expect: shardwise::broken_rule<shardwise::misuse::squares_have_no_range,
// expect: shardwise::of_types<shardwise::optim::adam>>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct whole : layout<pod, P<none>> {};
struct rows : layout<pod, P<"data", none>> {};
using W = sharded_tensor<float16, extents<4>, whole>;
using X = sharded_tensor<float16, extents<8, 4>, rows>;

constexpr auto loss = [](const auto& w, const auto& x) { return reshard<P<>>(sum(x * w)); };

void use(W& w, const X& x) {
  auto state = optim::adam{}.start(w);
  auto learn = step(optim::training_step{loss, optim::adam{}});
  auto now = learn(w, state, 0.1F, x);
}
