// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_is_marked_already,
// expect: shardwise::of_types<>, shardwise::operand_at{0}, shardwise::dimension_at{0}, shardwise::called<2>{"x"}, shardwise::operand_at{0}, shardwise::suggested<28>{"reshard<P<x, y>>(operand 0)"}>
// expect: only a replicated tensor is marked; clear_sharding removes an earlier mark
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x", none>> {};
using A = sharded_tensor<float, extents<8, 8>, rows>;
auto use() { return mark_sharding<P<"x", "y">>(abstract<A>()); }
