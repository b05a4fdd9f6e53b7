// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::name_has_no_rule,
// expect: shardwise::of_types<shardwise::nearest_names<>, rules>, shardwise::dimension_at{0}, shardwise::called<7>{"hidden"}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"batch", "data">, maps<"embed", "model", none>> {};
using rows = named_layout<rules, dim<"hidden", 8>>;
constexpr layout_desc value = rows::value;
