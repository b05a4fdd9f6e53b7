// SPDX-License-Identifier: BSL-1.0
// With the layout header alone, tensors are only declared and cannot be operands.
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<shardwise::einsum_of<shardwise::fixed_string<6>{"i,i->"}>, shardwise::detail::tensor_that_is_only_named>, shardwise::operand_at{0}>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<8>, whole>;
auto use(const A& a) { return einsum<"i,i->">(a, abstract<A>()); }
