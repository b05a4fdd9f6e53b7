// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::host_data_is_unreadable,
// expect: host data is an Eigen matrix, a forward range of numbers or of such ranges, or f(index)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const device_pool& pool, float* data) { return distribute<V>(pool, data); }
