// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_arguments,
// expect: shardwise::size_met{1}, shardwise::suggested<
// expect: {"gradient(loss)(w, x)"}
// expect: the function cannot be called with these arguments, in this order
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<16, 4>, layout<pod, P<none, none>>>;
inline constexpr auto loss = [](const auto& w, const auto& x) {
  return mean(square(matmul(x, w)));
};
auto use(const W& w, const X& x) { return gradient(loss(w, x)); }
