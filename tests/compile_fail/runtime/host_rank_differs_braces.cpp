// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::host_rank_differs,
// expect: shardwise::of_types<>, shardwise::size_met{1}, shardwise::size_needed{2}>
// expect: the host's data has as many dimensions as the tensor
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use(const device_pool& pool) { return distribute<A>(pool, {1, 2, 3}); }
