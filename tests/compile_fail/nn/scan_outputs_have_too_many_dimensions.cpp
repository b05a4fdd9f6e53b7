// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::rank_is_too_high
// expect: shardwise::of_types<>, shardwise::size_met{9}, shardwise::size_needed{8}>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct eight : layout<pod, P<"data", none, none, none, none, none, none, none>> {};
using X = sharded_tensor<float, extents<2, 1, 1, 1, 1, 1, 1, 4>, eight>;
struct layer {
  auto operator()(const auto& h, const auto& x) const {
    const X next = h + x;
    return scanned{next, next};
  }
};
auto use(const X& h, const std::vector<X>& steps) {
  auto [last, all] = scan(layer{}, h, steps);
  return last;
}
