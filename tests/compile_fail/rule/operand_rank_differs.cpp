// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_rank_differs,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"ij,jk->ik"}>, shardwise::operand_at{1}, shardwise::size_met{1}, shardwise::size_needed{2}>
// expect: shardwise::fixed_string<10>{"ij,jk->ik"}>,
// expect: an operand has as many dimensions as the rule names for it
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none, none>> {};
struct line : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<4, 4>, whole>;
using B = sharded_tensor<float, extents<4>, line>;
auto use() { return einsum<"ij,jk->ik">(abstract<A>(), abstract<B>()); }
