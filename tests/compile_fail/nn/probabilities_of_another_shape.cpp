// SPDX-License-Identifier: BSL-1.0
// Probabilities of classes have the shape of the logits.
// expect: shardwise::broken_rule<shardwise::violation::operand_rank_differs,
// expect: shardwise::cross_entropy
// expect: shardwise::operand_at{1}
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<none, none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<8, 3>, rows>;
using Y = sharded_tensor<float, extents<8>, flat>;
auto use(const X& x, const Y& y) { return nn::cross_entropy(x, y); }
