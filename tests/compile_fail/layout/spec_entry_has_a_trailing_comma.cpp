// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::spec_is_malformed,
// expect: shardwise::P<shardwise::fixed_string<3>{"x,"}>, shardwise::dimension_at{0}>
// expect: an entry is none, one axis, or by(axes), without blanks or nesting
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<"x,">>;
constexpr layout_desc value = rows::value;
