// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::argument_is_unexpected,
// expect: shardwise::of_types<shardwise::device_pool, shardwise::nothing_given>, shardwise::operand_at{1}>
// expect: after the pool come the values, then one size for each dyn extent
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const device_pool& pool) { return distribute<V>(std::vector<float>(8), pool); }
