// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_in_pool,
// expect: int, shardwise::called<8>{"to_host"}>
// expect: what is computed or read is a tensor in a device pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
auto use() { return to_host(3); }
