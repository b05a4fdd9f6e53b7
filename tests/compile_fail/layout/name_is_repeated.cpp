// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::name_is_repeated,
// expect: rules, shardwise::dimension_at{1}, shardwise::called<6>{"embed"}>
// expect: the dimensions of a tensor have different names
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data">, maps<"embed", "model", none>> {};
using X = named_tensor<rules, float, dim<"embed", 8>, dim<"embed", 16>>;
constexpr auto x = abstract<X>();
