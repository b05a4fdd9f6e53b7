// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<scale, float>, shardwise::operand_at{1}>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
struct scale {
  constexpr auto operator()(const auto& a, const auto& b) const { return a * b; }
};
constexpr auto cost = trace(scale{}, abstract<A>(), 2.0F);
