// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::extent_is_negative,
// expect: shardwise::of_types<>, shardwise::dimension_at{1}, shardwise::size_met{-8}, shardwise::size_needed{0}>
// expect: an extent is zero or more
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<8, -8>, layout<pod, P<"x", none>>>;
auto use() { return abstract<X>(); }
