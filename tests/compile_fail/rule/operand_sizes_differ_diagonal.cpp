// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::einsum_of<shardwise::fixed_string<6>{"ii->i"}>, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
// expect: shardwise::fixed_string<6>{"ii->i"}>,
// expect: corresponding dimensions of operands have the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<4, 6>, layout<pod, P<none, none>>>;
auto use() { return einsum<"ii->i">(abstract<A>()); }
