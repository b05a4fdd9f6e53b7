// SPDX-License-Identifier: BSL-1.0
// expect: 'weight'
// longest-line: 1000
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using X = sharded_tensor<float, extents<4, 3>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<3, 3>, layout<pod, P<none, none>>>;
struct model {
  W w;
};

void train(model& m, const X& x) {
  constexpr auto loss = [](const auto& parameters, const auto& batch) {
    return reshard<P<>>(mean(square(matmul(batch, parameters.weight))));
  };
  auto learn = step(optim::training_step{loss, optim::sgd{}});
  auto state = optim::sgd{}.start(m);
  (void)learn(m, state, 0.1F, x);
}
