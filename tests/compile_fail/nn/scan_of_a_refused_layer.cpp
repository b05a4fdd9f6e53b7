// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{4}, shardwise::size_needed{6}>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
struct whole : layout<pod, P<none, none>> {};
using W = sharded_tensor<float, extents<4, 6>, whole>;
struct layer {
  auto operator()(const auto& x, const W& w) const { return einsum<"bi,io->bo">(x, w) + x; }
};
auto use(const X& x, const std::vector<W>& layers) {
  return scan(layer{}, scan(layer{}, x, layers), layers);
}
