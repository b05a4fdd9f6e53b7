// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::dimension_at{1}, shardwise::called<6>{"modle"}>
// expect: a partition spec may only name axes of its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
struct whole : layout<pod, P<none, none>> {};
using X = sharded_tensor<float, extents<32, 64>, rows>;
using W = sharded_tensor<float, extents<64, 64>, whole>;
constexpr auto x = abstract<X>();
constexpr auto w = abstract<W>();
constexpr auto y = einsum<"bi,ij,jo->bo">(x, w, w, as<P<"data", "modle">>);
