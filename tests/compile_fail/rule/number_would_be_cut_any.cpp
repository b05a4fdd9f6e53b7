// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::number_would_be_cut,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::subtract>, int>, shardwise::operand_at{0}>
// expect: a number beside tensors is one of their element type
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<std::int32_t>& x) { return 0.5F - x; }
