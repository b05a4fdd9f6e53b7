// SPDX-License-Identifier: BSL-1.0
// Recomputing it causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct tiles : layout<pod, P<"data", "model">> {};
struct split_rows : layout<pod, P<"model", none>> {};
using X = sharded_tensor<float, extents<8, 4>, tiles>;
using W = sharded_tensor<float, extents<4, 6>, split_rows>;
struct layer {
  constexpr auto operator()(const auto& x, const auto& w) const {
    return relu(einsum<"bi,io->bo">(x, w));
  }
};

void use(const X& x, const W& w) { std::cout << to_host(recompute(layer{})(x, w)); }
