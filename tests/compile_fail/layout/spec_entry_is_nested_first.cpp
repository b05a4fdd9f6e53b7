// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::spec_is_malformed,
// expect: shardwise::P<shardwise::fixed_string<4>{"(x)"}>, shardwise::dimension_at{0}, shardwise::called<4>{"(x)"}>
// expect: an entry is none, one axis, or by(axes), without blanks or nesting
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<by(by("x"), "y")>>;
constexpr layout_desc value = rows::value;
