// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_type_differs,
// expect: shardwise::own_type<15>{"f32[8@data, 4]"}, shardwise::given_type<21>{"f32[8@data, 4@model]"}, shardwise::suggested<26>{"reshard<P<data, none>>(x)"}>
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
struct cols : layout<pod, P<none, "model">> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using W = sharded_tensor<float, extents<4, 4>, cols>;
struct layer {
  auto operator()(const auto& x, const W& w) const { return einsum<"bi,io->bo">(x, w); }
};
auto use(const X& x, const std::vector<W>& layers) { return scan(layer{}, x, layers); }
