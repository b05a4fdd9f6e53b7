// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::name_has_no_rule,
// expect: shardwise::of_types<shardwise::nearest_names<shardwise::fixed_string<6>{"embed"}>, rules>, shardwise::dimension_at{1}, shardwise::called<6>{"emebd"}>
// expect: shardwise::nearest_names<shardwise::fixed_string<6>{"embed"}>, rules>
// expect: a named dimension has a rule
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data">, maps<"embed", "model", none>> {};
using X = named_tensor<rules, float, dim<"batch", 8>, dim<"emebd", 16>>;
constexpr auto x = abstract<X>();
