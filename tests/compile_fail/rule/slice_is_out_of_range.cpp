// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::slice_is_out_of_range,
// expect: shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::size_met{9}, shardwise::size_needed{8}>
// expect: a slice begins and ends within its dimension, and a dimension padded with its own elements is not empty
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use() { return slice_in_dim<1, 0, 9>(abstract<A>()); }
