// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::host_data_is_unreadable,
// expect: shardwise::as_written<shardwise::fixed_string<9>{"f32[8@x]"}>>
// expect: {"f32[8@x]"}
// expect: host data is an Eigen matrix, a forward range of numbers or of such ranges, or f(index)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct split : layout<pod, P<"x">> {};
using V = sharded_tensor<float, extents<8>, split>;
auto use(const device_pool& pool, const V& v) { return distribute<V>(pool, v); }
