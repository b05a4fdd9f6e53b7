// SPDX-License-Identifier: BSL-1.0
// expect: vmap has a dimension, or none, for each argument
#include <shardwise/paper.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;

struct times {
  constexpr auto operator()(const auto& x, const auto& y) const { return x * y; }
};
auto y = vmap<0, none>(times{})(abstract<X>());
