// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::amount_is_out_of_range,
// expect: shardwise::size_met{0}, shardwise::size_needed{1}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4, 4, 4>, layout<pod, P<"x", none, none, none>>>;
auto use() { return pixel_shuffle<0>(abstract<A>()); }
