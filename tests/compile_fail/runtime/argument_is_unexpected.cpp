// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::argument_is_unexpected,
// expect: shardwise::of_types<int, shardwise::random_key>, shardwise::operand_at{1}>
// expect: after the pool come the values, then one size for each dyn extent
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use(const device_pool& pool) { return normal<A>(pool, 42); }
