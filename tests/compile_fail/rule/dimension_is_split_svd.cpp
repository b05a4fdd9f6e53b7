// SPDX-License-Identifier: BSL-1.0
// Programs that name all three results are told only about the split.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::linalg::svd_of, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::called<2>{"x"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<double, extents<4, 6, 4>, layout<pod, P<none, "x", none>>>;
constexpr auto truncated = [](const auto& x) {
  const auto [u, s, vh] = linalg::svd(x);
  return matmul(u, vh) * sum(s);
};
constexpr auto total = trace(truncated, abstract<A>());
static_assert(total.collectives() == 0);
