// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::called<6>{"batch"}>
// longest-line: 600
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct columns : layout<pod, P<none, "model">> {};
struct rows : layout<pod, P<"data", none>> {};
using W = sharded_tensor<float, extents<4, 4>, columns>;
using X = sharded_tensor<float, extents<8, 4>, rows>;
struct parameters {
  W w;
};
struct loss {
  auto operator()(const parameters& m, const auto& x) const {
    return reshard<P<>>(sum(einsum<"bi,io->bo">(x, m.w)));
  }
};
void use(parameters& m, const X& x) {
  auto state = optim::sgd{}.start(m);
  const optim::training_step learn{optim::accumulated<"batch">(loss{}), optim::sgd{}};
  std::cout << to_host(learn(m, state, 0.1F, std::array{x, x})).value();
}
