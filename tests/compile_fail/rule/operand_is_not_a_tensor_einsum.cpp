// SPDX-License-Identifier: BSL-1.0
// A tensor that is only named, on paper, has nothing that an einsum could be applied to.
// expect: shardwise::operand_is_not_a_tensor<shardwise::einsum_of<
// expect: shardwise::operand<0>, shardwise::detail::tensor_that_is_only_named>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<8>, whole>;
auto use(const A& a) { return einsum<"i,i->">(a, abstract<A>()); }
