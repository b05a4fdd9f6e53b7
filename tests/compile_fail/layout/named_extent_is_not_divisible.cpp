// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::extent_is_not_divisible,
// expect: pod, shardwise::dimension_at{1}, shardwise::actual_extent{6}, shardwise::equal_parts{4}, shardwise::nearest_sizes{4, 8}, shardwise::called<6>{"model"}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data">, maps<"embed", "model", none>> {};
using X = named_tensor<rules, float, dim<"batch", 8>, dim<"embed", 6>>;
constexpr auto x = abstract<X>();
