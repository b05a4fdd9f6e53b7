// SPDX-License-Identifier: BSL-1.0
// Found before the steps of the norm, so that none of them is in the message.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::multiply>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{4}, shardwise::size_needed{6}>
// longest-line: 450
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<8, 6>, rows>;
using V = sharded_tensor<float, extents<4>, flat>;
void use(const X& x, const nn::layer_norm<V>& norm) { std::cout << to_host(norm(x)); }
