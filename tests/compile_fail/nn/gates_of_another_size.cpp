// SPDX-License-Identifier: BSL-1.0
// The two layers whose results a gated mlp multiplies have another number of columns.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{4}, shardwise::size_needed{8}>
// expect: include/shardwise/nn/mlp.hpp:
// longest-line: 700
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct columns : layout<pod, P<none, "model">> {};
struct split_rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<4, 6>, rows>;
using Gate = sharded_tensor<float, extents<6, 8>, columns>;
using Up = sharded_tensor<float, extents<6, 4>, columns>;
using Down = sharded_tensor<float, extents<8, 6>, split_rows>;
using model = nn::gated_mlp<nn::linear<Gate>, nn::linear<Up>, nn::linear<Down>>;

auto use(const X& x, const model& m) { return m(x); }
