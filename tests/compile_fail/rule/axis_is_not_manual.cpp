// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_manual,
// expect: shardwise::manual<shardwise::fixed_string<5>{"data"}, shardwise::partial<
// expect: shardwise::called<6>{"model"}>
// expect: collectives and disable_manual_sharding work only along manual axes
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;

constexpr auto total = all_reduce<"model">(enable_manual_sharding(abstract<X>()));
