// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::truth_values_are_compared,
// expect: shardwise::pointwise<shardwise::functions::less_equal>, shardwise::operand_at{1}>
// expect: which is compared only with bool: 0 < x < 1 is logical_and(0 < x, x < 1)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<std::int32_t>& x) { return 0 <= x <= 1; }
