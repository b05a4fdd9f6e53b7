// SPDX-License-Identifier: BSL-1.0
// Several results are taken apart before they are operands.
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::relu>, shardwise::detail::results_in_a_tuple>, shardwise::operand_at{0}>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/paper.hpp>

#include <utility>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
constexpr auto halves = [](const auto& x) { return std::pair(x * 0.5F, x + 1.0F); };
auto use() { return relu(halves(abstract<X>())) + 1.0F; }
