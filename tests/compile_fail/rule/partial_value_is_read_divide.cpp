// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::partial_value_is_read<shardwise::pointwise<shardwise::functions::divide>,
// expect: shardwise::operand<1>, shardwise::fixed_string<2>{"y"},
// expect: shardwise::fixed_string<28>{"reshard<P<none>>(operand 1)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none>> {};
struct terms : layout<pod, P<none>, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, whole>;
using B = sharded_tensor<float, extents<8>, terms>;
auto use() { return abstract<A>() / abstract<B>(); }
