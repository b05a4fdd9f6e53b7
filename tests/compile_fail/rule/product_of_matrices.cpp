// SPDX-License-Identifier: BSL-1.0
// Operands whose layouts are not named structs: no line of the error contains their types.
// expect: shardwise::broken_rule<shardwise::violation::axis_would_split_twice,
// expect: shardwise::einsum_of<shardwise::fixed_string<10>{"bi,ih->bh"}>, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 0)"}>
// expect: shardwise::fixed_string<10>{"bi,ih->bh"}>,
// expect: a mesh axis splits one dimension of an operation
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<4096, 1024>, layout<pod, P<none, "model">>>;
auto use() { return einsum<"bi,ih->bh">(abstract<X>(), abstract<W>()); }
