// SPDX-License-Identifier: BSL-1.0
// The tangents cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct terms : layout<pod, P<"data">, partial<"model">> {};
using X = sharded_tensor<float, extents<8>, terms>;
struct layer {
  constexpr auto operator()(const auto& x) const { return exp(relu(x)); }
};

void use(const X& x) {
  const auto [y, dy] = jvp(layer{}, std::tuple(x), std::tuple(x));
  std::cout << to_host(y) << to_host(dy);
}
