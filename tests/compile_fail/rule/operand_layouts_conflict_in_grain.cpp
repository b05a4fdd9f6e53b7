// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<2>{"x"},
// expect-gcc: shardwise::suggested<42>{"reshard<P<block_cyclic<2>(x)>>(operand 1)"}>
// expect-clang: shardwise::suggested<42>{"reshard<P<block_cyclic<2>(x)>>(ope[...]"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct cyclic_rows : layout<pod, P<block_cyclic<2>("x")>> {};
struct whole : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, cyclic_rows>;
using B = sharded_tensor<float, extents<8>, whole>;
auto use() { return abstract<A>() + abstract<B>(); }
