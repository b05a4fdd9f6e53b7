// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::call_operation
#include <shardwise/paper.hpp>

using namespace shardwise;

constexpr auto twice = [](const auto& x) { return x + x; };
auto use() { return call(twice, 3.0F); }
