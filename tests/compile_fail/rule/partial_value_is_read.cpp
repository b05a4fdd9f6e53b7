// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::partial_value_is_read<shardwise::pointwise<shardwise::functions::relu>,
// expect: shardwise::operand<0>, shardwise::fixed_string<2>{"y"},
// expect: shardwise::fixed_string<25>{"reshard<P<x>>(operand 0)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, terms>;
auto use() { return relu(abstract<A>()); }
