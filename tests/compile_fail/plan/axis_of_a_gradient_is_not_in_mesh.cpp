// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::called<6>{"modle"}>
// expect: a partition spec may only name axes of its mesh
// longest-line: 500
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct columns : layout<pod, P<none, "model">> {};
struct rows : layout<pod, P<"data", none>> {};
constexpr auto w = abstract<sharded_tensor<float, extents<4, 4>, columns>>();
constexpr auto x = abstract<sharded_tensor<float, extents<8, 4>, rows>>();
struct loss {
  constexpr auto operator()(const auto& v, const auto& y) const {
    return sum(einsum<"bi,io->bo">(y, v));
  }
};
auto use() { return gradient(loss{}, left_pending<"modle">)(w, x) * 2.0F; }
