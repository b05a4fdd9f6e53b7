// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_layouts_conflict<shardwise::pointwise<shardwise::functions::add>,
// expect: shardwise::operand<1>::dimension<0>, shardwise::fixed_string<2>{"x"},
// expect-gcc: shardwise::fixed_string<42>{"reshard<P<block_cyclic<2>(x)>>(operand 1)"}>
// expect-clang: shardwise::fixed_string<42>{"reshard<P<block_cyclic<2>(x)>>(ope[...]"}>
// expect: dimensions that meet are split alike
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct dealt : layout<pod, P<block_cyclic<2>("x")>> {};
struct whole : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, dealt>;
using B = sharded_tensor<float, extents<8>, whole>;
auto use() { return abstract<A>() + abstract<B>(); }
