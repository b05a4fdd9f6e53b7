// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<2>{"y"}, shardwise::suggested<32>{"reshard<P<by(y, x)>>(operand 1)"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct by_yx : layout<pod, P<by("y", "x")>> {};
struct by_xy : layout<pod, P<by("x", "y")>> {};
using A = sharded_tensor<float, extents<8>, by_yx>;
using B = sharded_tensor<float, extents<8>, by_xy>;
auto use() { return abstract<A>() + abstract<B>(); }
