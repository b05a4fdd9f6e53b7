// SPDX-License-Identifier: BSL-1.0
// expect: cotangent_differs
// expect: a custom gradient gives each argument a tensor of its elements and extents
#include <shardwise/layout.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;

constexpr auto summed = custom_gradient([](const auto& x) { return exp(x); },
                                        [](const auto&, const auto& dy) { return sum<0>(dy); });
constexpr auto cost = trace(gradient([](const auto& x) { return sum(summed(x)); }), abstract<X>());
