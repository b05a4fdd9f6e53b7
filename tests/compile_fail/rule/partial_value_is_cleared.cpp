// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: shardwise::clearing, shardwise::operand_at{0}, shardwise::called<2>{"y"}, shardwise::suggested<28>{"reshard<P<none>>(operand 0)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, terms>;
auto use() { return clear_sharding(abstract<A>()); }
