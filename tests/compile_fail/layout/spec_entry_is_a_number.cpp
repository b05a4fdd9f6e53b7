// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::spec_is_malformed<shardwise::fixed_string<9>{"(number)"},
// expect: shardwise::dimension<1>
// expect: an entry is none, one axis, or by(axes), without blanks or nesting
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
constexpr layout_desc value = layout<pod, P<"x", 3>>::value;
