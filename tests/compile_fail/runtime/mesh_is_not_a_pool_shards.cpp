// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::mesh_is_not_a_pool,
// expect: shardwise::as_written<shardwise::fixed_string<15>{"mesh(x=2, y=4)"}>>
// expect: a tensor is made in a device pool: device_pool pool{pod{}}
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use() { return from_shards<V>(pod{}, std::vector<std::vector<float>>(8)); }
