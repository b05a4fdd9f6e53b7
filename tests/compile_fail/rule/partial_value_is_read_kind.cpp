// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: shardwise::pointwise<shardwise::functions::negate>, shardwise::operand_at{0}, shardwise::called<2>{"y"}, shardwise::suggested<28>{"reshard<P<none>>(operand 0)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<none>, partial<"y", reduction::max>>>;
auto use() { return -abstract<A>(); }
