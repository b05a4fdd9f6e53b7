// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_count_differs,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"ij,jk->ik"}>, shardwise::size_met{1}, shardwise::size_needed{2}>
// expect: shardwise::fixed_string<10>{"ij,jk->ik"}>,
// expect: an operation takes as many operands as its rule has
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;
auto use() { return einsum<"ij,jk->ik">(abstract<A>()); }
