// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::number_would_be_cut,
// expect: shardwise::of_types<shardwise::filling, int>, shardwise::operand_at{1}>
// expect: a number beside tensors is one of their element type
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using A = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"data">>>;
auto use(const device_pool& pool) { return full<A>(pool, 0.5); }
