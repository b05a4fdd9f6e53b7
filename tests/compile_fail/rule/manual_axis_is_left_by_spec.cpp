// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::manual_axis_is_left,
// expect: shardwise::P<shardwise::fixed_string<6>{"model"}>, shardwise::called<5>{"data"}>
// expect: a manual axis is left by disable_manual_sharding or by a collective such as all_reduce
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data">> {};
using X = sharded_tensor<float, extents<8>, rows>;

constexpr auto left = disable_manual_sharding<P<"model">>(enable_manual_sharding(abstract<X>()));
