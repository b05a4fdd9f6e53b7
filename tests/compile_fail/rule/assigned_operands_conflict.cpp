// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_layouts_conflict<shardwise::pointwise<shardwise::functions::subtract>,
// expect: shardwise::operand<1>::dimension<0>, shardwise::fixed_string<2>{"y"},
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct by_x : layout<pod, P<"x">> {};
struct by_y : layout<pod, P<"y">> {};
using A = sharded_tensor<float, extents<8>, by_x>;
using B = sharded_tensor<float, extents<8>, by_y>;
void use(A& a, const B& b) { a -= b; }
