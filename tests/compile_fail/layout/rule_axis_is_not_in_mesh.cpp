// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_is_not_in_mesh,
// expect: shardwise::maps<shardwise::fixed_string<6>{"embed"}, shardwise::fixed_string<6>{"modle"}, shardwise::fixed_string<1>{""}>, shardwise::called<6>{"modle"}>
// expect: shardwise::maps<shardwise::fixed_string<6>{"embed"},
// expect: a partition spec may only name axes of its mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data">, maps<"embed", "modle", none>> {};
using X = named_tensor<rules, float, dim<"batch", 8>, dim<"embed", 16>>;
using Y = named_tensor<rules, float, dim<"embed", 16>>;
constexpr auto x = abstract<X>();
constexpr auto y = abstract<Y>();
