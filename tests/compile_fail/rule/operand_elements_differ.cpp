// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_elements_differ,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::multiply>, int, float>, shardwise::operand_at{1}>
// expect: the operands of an operation have the same element type
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
using B = sharded_tensor<std::int32_t, extents<8>, rows>;
auto use() { return abstract<A>() * abstract<B>(); }
