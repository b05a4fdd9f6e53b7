// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::extent_is_not_divisible,
// expect: pod, shardwise::dimension_at{0}, shardwise::actual_extent{6}, shardwise::equal_parts{4}, shardwise::nearest_sizes{4, 8}, shardwise::called<2>{"y"}>
// expect: a split extent is divisible by its axes, or the layout says uneven
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<6>, layout<pod, P<"x">>>;
auto use() { return reshard<P<"y">>(abstract<A>()); }
