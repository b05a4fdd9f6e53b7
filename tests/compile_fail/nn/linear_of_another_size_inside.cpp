// SPDX-License-Identifier: BSL-1.0
// An error in a module without a bias is shown where the module calls the operation.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{12}, shardwise::size_needed{16}>
// expect: include/shardwise/nn/linear.hpp:
// longest-line: 500
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
struct columns : layout<pod, P<none, "model">> {};
struct split_rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;
using Up = sharded_tensor<float, extents<16, 16>, columns>;
using Down = sharded_tensor<float, extents<12, 16>, split_rows>;
struct model {
  nn::mlp<nn::linear<Up>, nn::linear<Down>> both;

  auto operator()(const auto& x) const { return both(x); }
};
auto use(const X& x, const model& m) { return m(x) + 1.0F; }
