// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_is_replicated,
// expect: shardwise::of_types<shardwise::P<shardwise::fixed_string<1>{""}>, pod>>
// expect: a tensor whose shards are loaded one by one is split or pending
#include <shardwise/shardwise.hpp>

#include <vector>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
A use(const A& a) { return load_local_shards(a, std::vector<std::vector<float>>(2)); }
