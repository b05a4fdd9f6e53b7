// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_rank_differs,
// expect: shardwise::einsum_of<shardwise::fixed_string<6>{"ij->i"}>, shardwise::operand_at{0}, shardwise::size_met{1}, shardwise::size_needed{2}>
// expect: shardwise::fixed_string<6>{"ij->i"}>,
// expect: an operand has as many dimensions as the rule names for it
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<4>, layout<pod, P<none>>>;
auto use() { return einsum<"ij->i">(abstract<A>()); }
