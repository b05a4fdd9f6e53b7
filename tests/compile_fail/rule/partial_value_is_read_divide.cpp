// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: shardwise::pointwise<shardwise::functions::divide>, shardwise::operand_at{1}, shardwise::called<2>{"y"}, shardwise::suggested<28>{"reshard<P<none>>(operand 1)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none>> {};
struct terms : layout<pod, P<none>, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, whole>;
using B = sharded_tensor<float, extents<8>, terms>;
auto use() { return abstract<A>() / abstract<B>(); }
