// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_in_pool,
// expect: int, shardwise::called<5>{"sync"}>
// expect: what is computed or read is a tensor in a device pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
void use(const A& a) { sync(a, 3); }
