// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_truth_value,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::where>, float>, shardwise::operand_at{0}>
// expect: a condition is a tensor of bool, as comparisons give: where(x > 0, x, y)
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
auto use() { return where(abstract<A>(), abstract<A>(), 0.0F); }
