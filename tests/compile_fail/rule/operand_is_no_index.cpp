// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_index,
// expect: shardwise::of_types<shardwise::take_of<0, shardwise::out_of_range::error>, float>, shardwise::operand_at{1}>
// expect: an index is an integer: cast<int>(x) converts other numbers
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
auto use() { return take<0>(abstract<A>(), abstract<A>()); }
