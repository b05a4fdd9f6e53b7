// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"ij,jk->ik"}>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{6}, shardwise::size_needed{4}>
// expect: shardwise::fixed_string<10>{"ij,jk->ik"}>,
// expect: corresponding dimensions of operands have the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none, none>> {};
using A = sharded_tensor<float, extents<4, 4>, whole>;
using B = sharded_tensor<float, extents<6, 4>, whole>;
auto use() { return einsum<"ij,jk->ik">(abstract<A>(), abstract<B>()); }
