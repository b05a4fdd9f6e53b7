// SPDX-License-Identifier: BSL-1.0
// An average has the extents of the model: it is not broadcast.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::detail::moved_average
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{1}, shardwise::size_needed{8}>
// longest-line: 1000
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using W = nn::linear<nn::whole<float, pod, 8, 4>>;
using V = nn::linear<nn::whole<float, pod, 1, 4>>;
void use(W& average, const V& model) { nn::move_towards(average, model, 0.1F); }
