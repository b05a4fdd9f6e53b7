// SPDX-License-Identifier: BSL-1.0
// One error, and none from the steps of the norm.
// expect: shardwise::broken_rule<shardwise::misuse::gradients_differ,
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct whole : layout<pod, P<none>> {};
struct rows : layout<pod, P<"data", none>> {};
using W = sharded_tensor<float, extents<4>, whole>;
using X = sharded_tensor<float, extents<8, 4>, rows>;

constexpr auto loss = [](const auto& w, const auto& x) { return sum(x * w); };

void use(const W& w, const X& x) {
  auto dw = gradient(loss, left_pending<"data">)(w, x);
  (void)optim::clip_by_global_norm(dw, 1.0);
}
