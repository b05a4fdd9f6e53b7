// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::extent_is_not_divisible,
// expect: pod, shardwise::dimension_at{0}, shardwise::actual_extent{1001}, shardwise::equal_parts{2}, shardwise::nearest_sizes{1000, 1002}, shardwise::called<5>{"data"}>
// expect: a split extent is divisible by its axes, or the layout says uneven
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using Z = sharded_tensor<float, extents<1001, 4096>, layout<pod, P<"data", "model">>>;
auto use(const Z& z) { return z * z; }
