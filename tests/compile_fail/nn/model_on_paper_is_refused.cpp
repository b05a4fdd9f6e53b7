// SPDX-License-Identifier: BSL-1.0
// The ledger causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct split_rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 4>, tiles>;
using W = sharded_tensor<float, extents<4, 6>, split_rows>;
struct forward {
  constexpr auto operator()(const auto& m, const auto& x) const { return relu(m(x)); }
};
constexpr auto ledger = trace_nests<64, nn::linear<W>, X>(forward{});
static_assert(ledger.collectives() == 0 && ledger.flops() > 0);
