// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::groups_do_not_divide_channels,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::actual_extent{16}, shardwise::multiple_of{3}, shardwise::nearest_sizes{15, 18}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<8, 3, 32, 32>, layout<pod, P<"x", none, none, none>>>;
using W = sharded_tensor<float, extents<16, 1, 3, 3>, layout<pod, P<none, none, none, none>>>;
auto use() { return convolution<feature_groups<3>>(abstract<X>(), abstract<W>()); }
