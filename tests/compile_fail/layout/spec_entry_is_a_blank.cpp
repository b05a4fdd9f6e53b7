// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::spec_is_malformed,
// expect: shardwise::P<shardwise::fixed_string<2>{"x"}, shardwise::fixed_string<2>{" "}>, shardwise::dimension_at{1}, shardwise::called<2>{" "}>
// expect: an entry is none, one axis, or by(axes), without blanks or nesting
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<"x", " ">>;
constexpr layout_desc value = rows::value;
