// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::pending_axes_are_out_of_order,
// expect: shardwise::of_types<pod, shardwise::partial<shardwise::fixed_string<4>{"y,x"}, shardwise::reduction::sum>>, shardwise::called<2>{"x"}>
// expect: shardwise::partial<shardwise::fixed_string<4>{"y,x"}
// expect: pending axes are written in the order of their mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using terms = layout<pod, P<none>, partial<"y,x">>;
constexpr layout_desc value = terms::value;
