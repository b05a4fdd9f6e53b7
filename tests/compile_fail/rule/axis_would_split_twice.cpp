// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_would_split_twice,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{0}, shardwise::dimension_at{0}, shardwise::called<2>{"x"}, shardwise::suggested<28>{"reshard<P<none>>(operand 0)"}>
// expect: a mesh axis splits one dimension of an operation
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
struct column : layout<pod, P<"x", none>> {};
using A = sharded_tensor<float, extents<8>, rows>;
using B = sharded_tensor<float, extents<8, 1>, column>;
auto use() { return abstract<A>() + abstract<B>(); }
