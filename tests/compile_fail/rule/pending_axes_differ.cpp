// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::pending_axes_differ<shardwise::pointwise<shardwise::functions::add>,
// expect: shardwise::operand<1>, shardwise::fixed_string<2>{"y"},
// expect: shardwise::fixed_string<25>{"reshard<P<x>>(operand 0)"}>
// expect: values that are added are pending alike
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, terms>;
using B = sharded_tensor<float, extents<8>, rows>;
auto use() { return abstract<A>() + abstract<B>(); }
