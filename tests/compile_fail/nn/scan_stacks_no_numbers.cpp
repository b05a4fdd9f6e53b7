// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::layer_returns_no_carry
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
struct layer {
  auto operator()(const auto& h, const auto& x) const { return scanned{h + x, 1.0F}; }
};
auto use(const X& h, const std::vector<X>& steps) {
  auto [last, all] = scan(layer{}, h, steps);
  return last;
}
