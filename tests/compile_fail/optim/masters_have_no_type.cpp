// SPDX-License-Identifier: BSL-1.0
// The state and the step have the same mistake.
// expect: shardwise::broken_rule<shardwise::misuse::masters_have_no_type,
// expect: shardwise::of_types<shardwise::optim::masters<shardwise::optim::adam>>>
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct whole : layout<pod, P<none>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<bfloat16, extents<8, 4>, rows>;
struct model {
  sharded_tensor<bfloat16, extents<4>, whole> weight;
  sharded_tensor<float, extents<4>, whole> scale;
};

constexpr auto loss = [](const auto& m, const auto& x) {
  return reshard<P<>>(sum(cast<float>(x * m.weight) * m.scale));
};

void use(model& m, const X& x) {
  auto learn = optim::with_masters(optim::adam{});
  auto state = learn.start(m);
  auto train = step(optim::training_step{loss, learn});
  auto now = train(m, state, 0.1F, x);
}
