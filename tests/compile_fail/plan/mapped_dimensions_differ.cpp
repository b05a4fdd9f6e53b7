// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::mapped_dimensions_differ,
// expect: the dimensions that a vmap maps have the same size and are split alike
#include <shardwise/paper.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
struct whole : layout<pod, P<none, none>> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;
using Y = sharded_tensor<float, extents<8, 16>, whole>;

struct multiplied {
  constexpr auto operator()(const auto& x, const auto& y) const { return x * y; }
};
constexpr auto mapped = vmap(multiplied{});
auto y = mapped(abstract<X>(), abstract<Y>());
