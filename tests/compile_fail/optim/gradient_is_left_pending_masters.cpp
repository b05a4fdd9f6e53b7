// SPDX-License-Identifier: BSL-1.0
// expect: reduced first: reshard it, or do not leave it pending
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using W = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;

void use(W& w, optim::masters<optim::sgd>::state<W>& state, const X& x) {
  auto loss = [](const auto& v, const auto& in) { return sum(einsum<"bi,io->bo">(in, v)); };
  optim::with_masters(optim::sgd{})(w, state, gradient(loss, left_pending<"data">)(w, x), 0.1F);
}
