// SPDX-License-Identifier: BSL-1.0
// expect: cotangent_differs
// expect: there is a cotangent for each tensor, with its element type and extents; that of a custom gradient has its split
#include <shardwise/paper.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;

struct forward {
  constexpr auto operator()(const auto& x) const { return exp(x); }
};
struct backward {
  constexpr auto operator()(const auto&, const auto& dy) const { return sum<0>(dy); }
};
constexpr auto summed = custom_gradient(forward{}, backward{});
constexpr auto cost = trace(summed, abstract<X>());
