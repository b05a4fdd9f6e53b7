// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range,
// expect: shardwise::reduction_of<shardwise::reduction::sum, 0, false>, shardwise::size_met{2}, shardwise::size_from{-2}, shardwise::size_below{2}>
// expect: a dimension is a number from minus the rank to the rank minus one, where -1 is the last
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use() { return sum<2>(abstract<A>()); }
