// SPDX-License-Identifier: BSL-1.0
// There are as many weights as classes.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::detail::class_weights
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{4}, shardwise::size_needed{3}>
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<none, none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<8, 3>, rows>;
using Y = sharded_tensor<std::int32_t, extents<8>, flat>;
using W = sharded_tensor<float, extents<4>, flat>;
auto use(const X& x, const Y& y, const W& w) { return nn::cross_entropy(x, y, w); }
