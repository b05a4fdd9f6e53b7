// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::pending_axes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::called<2>{"y"}, shardwise::suggested<25>{"reshard<P<x>>(operand 0)"}>
// expect: operands that are combined are pending over the same axes
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, terms>;
using B = sharded_tensor<float, extents<8>, rows>;
auto use() { return abstract<A>() + abstract<B>(); }
