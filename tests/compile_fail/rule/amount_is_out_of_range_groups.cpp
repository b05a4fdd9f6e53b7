// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::amount_is_out_of_range,
// expect: group_norm_of<0>, shardwise::size_met{0}, shardwise::size_needed{1}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using X = sharded_tensor<float, extents<8, 4, 32, 32>, layout<pod, P<"x", none, none, none>>>;
auto use() { return group_norm<0>(abstract<X>(), 1e-5); }
