// SPDX-License-Identifier: BSL-1.0
// The error does not contain the type of the operand, however long it is.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range,
// expect: shardwise::reduction_of<shardwise::reduction::sum, 0, false>, shardwise::size_met{9}, shardwise::size_from{-2}, shardwise::size_below{2}>
// expect: a dimension is a number from minus the rank to the rank minus one, where -1 is the last
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use(const X& x) { return mean<9>(x, keep_dims) + x; }
