// SPDX-License-Identifier: BSL-1.0
// Matrices that are not square have no eigenvalues.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::linalg::eigh_of, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::size_met{5}, shardwise::size_needed{4}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<double, extents<4, 5>, layout<pod, P<none, none>>>;
constexpr auto spread = [](const auto& x) {
  const auto [values, vectors] = linalg::eigh(x);
  return matmul(vectors, vectors) * values;
};
constexpr auto total = trace(spread, abstract<A>());
static_assert(total.collectives() == 0);
