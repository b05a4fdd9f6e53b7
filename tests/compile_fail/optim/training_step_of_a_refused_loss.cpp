// SPDX-License-Identifier: BSL-1.0
// The step causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::subtract>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{4}, shardwise::size_needed{6}>
#include <shardwise/optim.hpp>
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
  auto operator()(const model& m, const auto& x) const {
    return mean(square(einsum<"bi,io->bo">(x, m.w) - x));
  }
};
void use(device_pool& pool, model& m, const X& x) {
  auto state = optim::sgd{}.start(m);
  const optim::training_step learn{loss{}, optim::sgd{}};
  const auto now = step(pool, [&] { return learn(m, state, 0.1F, x); });
  std::cout << to_host(now);
}
