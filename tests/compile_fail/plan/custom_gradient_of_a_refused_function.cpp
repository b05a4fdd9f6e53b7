// SPDX-License-Identifier: BSL-1.0
// The gradient causes no further errors.
// longest-line: 680
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
// clang-format off
#include <shardwise/shardwise.hpp>
// clang-format on

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;

struct layer {
  auto operator()(const auto& x, const auto& y) const { return relu(x + y); }
};
struct backward {
  auto operator()(const auto&, const auto&, const auto& dy) const { return std::tuple(dy, dy); }
};
void use(const X& x, const Y& y) {
  const auto f = custom_gradient(layer{}, backward{});
  const auto made = exp(f(x, y));
}
