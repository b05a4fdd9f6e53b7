// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::partial_axis_also_splits,
// expect: shardwise::of_types<shardwise::P<shardwise::fixed_string<2>{"x"}>, shardwise::partial<shardwise::fixed_string<2>{"x"}, shardwise::reduction::sum>>, shardwise::dimension_at{0}, shardwise::called<2>{"x"}>
// expect: shardwise::partial<shardwise::fixed_string<2>{"x"}
// expect: an axis is either pending or splits a dimension, not both
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using terms = layout<pod, P<"x">, partial<"x">>;
constexpr layout_desc value = terms::value;
