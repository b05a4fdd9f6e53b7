// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_elements_differ<shardwise::pointwise<shardwise::functions::where>,
// expect: shardwise::operand<2>, double, float>
// expect: the operands of an operation have the same element type
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<float>& x, const any_tensor<double>& y) { return where(x > 0, x, y); }
