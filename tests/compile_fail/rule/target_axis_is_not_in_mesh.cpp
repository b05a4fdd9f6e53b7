// SPDX-License-Identifier: BSL-1.0
// The invalid reshard causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: pod, shardwise::dimension_at{1}, shardwise::called<5>{"nope"}>
// expect: a partition spec may only name axes of its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
constexpr auto moved = [](const auto& x) { return relu(reshard<P<"model", "nope">>(x)) + x; };
static_assert(trace(moved, abstract<X>()).collectives() == 0);
