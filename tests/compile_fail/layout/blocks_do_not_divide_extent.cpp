// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::blocks_do_not_divide_extent,
// expect: pod, shardwise::dimension_at{0}, shardwise::actual_extent{1001}, shardwise::multiple_of{256}, shardwise::nearest_sizes{768, 1024}, shardwise::called<7>{"x,y%32"}>
// expect: block times devices divides a block-cyclic extent, or the layout says uneven
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<1001>, layout<pod, P<block_cyclic<32>("x", "y")>>>;
auto use() { return abstract<X>(); }
