// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::extent_is_not_divisible,
// expect: pod, shardwise::dimension_at{0}, shardwise::actual_extent{1001}, shardwise::equal_parts{8}, shardwise::nearest_sizes{1000, 1008}, shardwise::called<4>{"x,y"}>
// expect: a split extent is divisible by its axes, or the layout says uneven
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<1001>, layout<pod, P<by("x", "y")>>>;
auto use() { return abstract<X>(); }
