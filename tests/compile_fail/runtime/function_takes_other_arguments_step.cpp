// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_arguments,
// expect: shardwise::size_met{2}, shardwise::suggested<
// expect: {"train(model, x)"}
// expect: the function cannot be called with these arguments, in this order; what it changes is a variable
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
struct model {
  X weight;
};
void use(const device_pool& pool, const X& x) {
  auto train = step([](model& m, const X& a) { m.weight = m.weight * 0.5F + a; });
  train(nn::initialise<model>(pool, random_key{1}), x);
}
