// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::dimension_at{1}, shardwise::called<6>{"modle"}>
// expect: a partition spec may only name axes of its mesh
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
struct columns : layout<pod, P<none, "model">> {};
using X = sharded_tensor<float, extents<32, 64>, rows>;
using W = sharded_tensor<float, extents<64, 128>, columns>;
auto use(const X& x, const W& w) { return einsum<"bi,io->bo">(x, w, as<P<"data", "modle">>); }
