// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::max_with_index_of<0>, shardwise::operand_at{0}, shardwise::dimension_at{0}, shardwise::called<2>{"x"}, shardwise::suggested<34>{"reshard<P<none, none>>(operand 0)"}, shardwise::or_across<2>{"x"}>
// expect: a dimension needed whole is not split
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
auto use() { return max_with_index<0>(abstract<A>()); }
