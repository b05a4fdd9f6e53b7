// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::positions_are_malformed,
// expect: shardwise::called<5>{"data"}>
// expect: positions are below the number of devices along their axes; a permute has at most 20 pairs
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;

constexpr auto swapped =
    permute<"data", sends<0, 1>, sends<1, 2>>(enable_manual_sharding(abstract<X>()));
