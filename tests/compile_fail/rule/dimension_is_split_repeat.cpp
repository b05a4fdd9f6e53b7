// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::repeat_counts_of<0, 1, 0, 4, 2>
// expect: shardwise::operand_at{0}, shardwise::dimension_at{0}, shardwise::called<2>{"x"}
// expect: reshard<P<none, y>>(operand 0)
// expect: or_across<2>{"x"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<4, 8>, layout<pod, P<"x", "y">>>;
auto use() { return repeat<0, 1, 0, 4, 2>(abstract<A>()); }
