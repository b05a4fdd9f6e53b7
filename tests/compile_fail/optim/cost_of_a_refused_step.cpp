// SPDX-License-Identifier: BSL-1.0
// An error in the function of a compiled step is the only one where the program asks for its cost.
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}
// expect: corresponding dimensions are split the same way
#include <shardwise/optim.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct other_rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<4, 6>, rows>;
using W = sharded_tensor<float, extents<4, 6>, other_rows>;

cost_ledger cost_of(X& x, const W& w) {
  auto train = step([](auto& a, const auto& b) { a = a + b; });
  return train.ledger(x, w);
}
