// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_too_short,
// expect: shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::size_met{4}, shardwise::size_needed{5}>
// expect: at most as many elements are taken of a dimension as it has
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
auto use() { return top_k<1, 5>(abstract<A>()); }
