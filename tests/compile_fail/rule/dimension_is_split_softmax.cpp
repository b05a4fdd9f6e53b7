// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::softmax_of<1>, shardwise::operand_at{0}, shardwise::dimension_at{1}
// expect: reshard<P<x, none>>(operand 0)
// expect: or_across<2>{"y"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use() { return softmax<1>(abstract<A>()); }
