// SPDX-License-Identifier: BSL-1.0
// A mistake in a module, which the function of a gradient calls.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
// clang-format off
#include <shardwise/shardwise.hpp>
// clang-format on

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;

struct model {
  Y weight;

  auto operator()(const auto& x) const { return exp(x + weight); }
};
void use(device_pool& pool, const model& m, const X& x) {
  const auto loss = [&](const auto& each) { return mean(each(x)); };
  const auto now = step(pool, [&] { return value_and_grad(loss)(m).first; });
  std::cout << to_host(now);
}
