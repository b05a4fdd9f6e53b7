// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_manual,
// expect: shardwise::called<5>{"data"}>
// expect: collectives and disable_manual_sharding work only along manual axes
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<4, 4>, layout<pod, P<none, none>>>;

constexpr auto rows = disable_manual_sharding<P<"data", none>>(abstract<X>());
