// SPDX-License-Identifier: BSL-1.0
// expect: = delete;  // optim::reduced<W>(pending)
// errors-clang: 2
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using W = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;

constexpr auto loss = [](const auto& w, const auto& x) { return sum(einsum<"bi,io->bo">(x, w)); };

void use(W& w, const X& x) {
  auto state = optim::sgd{}.start(w);
  auto dw = gradient(loss, left_pending<"data">)(w, x);
  optim::sgd{}(w, state, dw, 0.1F);
}
