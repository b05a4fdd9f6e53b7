// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::amount_is_out_of_range,
// expect: shardwise::dimension_at{1}, shardwise::size_met{-1}, shardwise::size_needed{0}>
// expect: padding is 0 or more, groups and counts are 1 or more, a step is not 0, and pixel factors are 1 to 32768
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use() { return pad<0, 0, -1, 0>(abstract<A>()); }
