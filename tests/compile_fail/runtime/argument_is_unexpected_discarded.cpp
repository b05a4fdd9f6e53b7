// SPDX-License-Identifier: BSL-1.0
// The error is at the line of the program, even if the tensor is not used.
// expect: shardwise::broken_rule<shardwise::misuse::argument_is_unexpected,
// expect: shardwise::of_types<int, shardwise::nothing_given>, shardwise::operand_at{1}>
// expect: after the pool come the values, then one size for each dyn extent
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
void use(const device_pool& pool) { (void)zeros<X>(pool, 3); }
