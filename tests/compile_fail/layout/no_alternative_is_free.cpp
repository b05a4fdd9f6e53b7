// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::no_alternative_is_free,
// expect: shardwise::of_types<shardwise::taken_by<shardwise::fixed_string<6>{"model"}, shardwise::fixed_string<6>{"heads"}>, rules>, shardwise::dimension_at{0}, shardwise::called<6>{"embed"}>
// expect: shardwise::taken_by<shardwise::fixed_string<6>{"model"},
// expect: a rule has an alternative whose axes are free, or ends with none
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rules : axis_rules<pod, maps<"heads", "model">, maps<"embed", "model">> {};
using W = named_tensor<rules, float, dim<"embed", 16>, dim<"heads", 8>>;
constexpr auto w = abstract<W>();
