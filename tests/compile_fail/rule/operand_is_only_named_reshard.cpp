// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_is_not_a_tensor<
// expect: shardwise::operand<0>, shardwise::detail::tensor_that_is_only_named>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/layout.hpp>
#include <shardwise/operation/manual.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use(const X& x) { return all_reduce<"data">(x); }
