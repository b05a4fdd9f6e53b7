// SPDX-License-Identifier: BSL-1.0
// Between a weight of another size and the call of its module stands nothing of the library.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{12}, shardwise::size_needed{16}>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
struct columns : layout<pod, P<none, "model">> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;
using W = sharded_tensor<float, extents<12, 16>, columns>;
struct model {
  nn::linear<W> up;

  auto operator()(const auto& x) const { return relu(up(x)); }
};
auto use(const X& x, const model& m) { return m(x) + 1.0F; }
