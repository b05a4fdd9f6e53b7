// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::shards_are_not_blocks,
// expect: std::vector<float
// expect: shards are a forward range of blocks: Eigen matrices, local shards, or runs of numbers
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const V& v) { return load_local_shards(v, std::vector<float>(8)); }
