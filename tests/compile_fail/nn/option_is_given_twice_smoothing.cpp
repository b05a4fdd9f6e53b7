// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::option_is_given_twice
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct flat : layout<pod, P<"data">> {};
using X = sharded_tensor<float, extents<8, 3>, rows>;
using Y = sharded_tensor<std::int32_t, extents<8>, flat>;
constexpr auto loss = [](const auto& x, const auto& y) {
  return nn::cross_entropy(x, y, nn::smoothing{0.1}, nn::smoothing{0.2});
};
constexpr auto cost = trace(loss, abstract<X>(), abstract<Y>());
