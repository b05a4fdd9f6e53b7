// SPDX-License-Identifier: BSL-1.0
// Operands whose layouts have no names of their own: no line of the error names their types.
// expect: shardwise::axis_would_split_twice<shardwise::einsum_of<
// expect: shardwise::fixed_string<10>{"bi,ih->bh"}>,
// expect: shardwise::operand<1>::dimension<1>, shardwise::fixed_string<6>{"model"},
// expect: shardwise::fixed_string<34>{"reshard<P<none, none>>(operand 1)"}>
// expect: a mesh axis splits one dimension of an operation
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<4096, 1024>, layout<pod, P<none, "model">>>;
auto use() { return einsum<"bi,ih->bh">(abstract<X>(), abstract<W>()); }
