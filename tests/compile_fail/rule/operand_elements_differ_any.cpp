// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_elements_differ,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::where>, double, float>, shardwise::operand_at{2}>
// expect: the operands of an operation have the same element type
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<float>& x, const any_tensor<double>& y) { return where(x > 0, x, y); }
