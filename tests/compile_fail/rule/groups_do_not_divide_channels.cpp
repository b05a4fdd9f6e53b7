// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::groups_do_not_divide_channels,
// expect: group_norm_of<3>, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::actual_extent{4}, shardwise::multiple_of{3}, shardwise::nearest_sizes{3, 6}>
// expect: channels are divided into one or more groups of the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using X = sharded_tensor<float, extents<8, 4, 32, 32>, layout<pod, P<"x", none, none, none>>>;
auto use() { return group_norm<3>(abstract<X>(), 1e-5); }
