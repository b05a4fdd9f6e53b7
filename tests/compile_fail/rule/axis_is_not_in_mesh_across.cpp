// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::called<6>{"modle"}>
// expect: a partition spec may only name axes of its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;
auto use() { return cumsum<1>(abstract<A>(), across<"modle">); }
