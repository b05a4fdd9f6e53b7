// SPDX-License-Identifier: BSL-1.0
// There are as many weights as classes.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::detail::class_weights
// expect: shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{4}, shardwise::size_needed{3}>
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<none, none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<8, 3>, rows>;
using Y = sharded_tensor<std::int32_t, extents<8>, flat>;
using W = sharded_tensor<float, extents<4>, flat>;
constexpr auto loss = [](const auto& x, const auto& y, const auto& w) {
  return reshard<P<>>(nn::cross_entropy_ignoring<-1>(x, y, w)) * 2.0F;
};
constexpr auto cost = trace(loss, abstract<X>(), abstract<Y>(), abstract<W>());
