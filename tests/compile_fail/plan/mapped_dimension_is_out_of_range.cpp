// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range,
// expect: a dimension is a number from minus the rank to the rank minus one, where -1 is the last
#include <shardwise/paper.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 16>, rows>;
using Y = sharded_tensor<float, extents<8, 16>, rows>;

struct multiplied {
  constexpr auto operator()(const auto& x, const auto& y) const { return x * y; }
};
constexpr auto mapped = vmap<0, 2>(multiplied{});
auto y = mapped(abstract<X>(), abstract<Y>());
