// SPDX-License-Identifier: BSL-1.0
// The error of a reduction that is composed of others is its own.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range,
// expect: shardwise::variance_of<1, -3>, shardwise::size_met{-3}, shardwise::size_from{-2}, shardwise::size_below{2}>
// expect: a dimension is a number from minus the rank to the rank minus one, where -1 is the last
// expect: dimension_is_out_of_range_composed.cpp:13
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use() { return variance<1, -3>(abstract<A>()); }
