// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::add>, shardwise::detail::results_in_a_tuple>, shardwise::operand_at{1}>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
X use(const X& x) { return x + split_at<1, 2>(x); }
