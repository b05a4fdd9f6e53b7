// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::number_would_be_cut<shardwise::pointwise<shardwise::functions::subtract>,
// expect: shardwise::operand<0>, int>
// expect: a number beside tensors is one of their element type
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<std::int32_t>& x) { return 0.5F - x; }
