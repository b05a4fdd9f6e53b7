// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::add>, shardwise::detail::tensor_that_is_only_named>, shardwise::operand_at{0}>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<1024, 4096>, rows>;
auto use(const X& x) { return relu(x + x) * x; }
