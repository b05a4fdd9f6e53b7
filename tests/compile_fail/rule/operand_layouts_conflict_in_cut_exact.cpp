// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<2>{"x"},
// expect-gcc: shardwise::suggested<46>{"reshard<P<cut_once(x, y)>, uneven>(operand 1)"}>
// expect: corresponding dimensions are split the same way
// expect-clang: dimension_at{0}, called<2>{"x"}, suggested<46>{"reshard<P<cut_once(x, y)>, uneven>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct tiles : layout<pod, P<by("x", "y")>, partial<>, single_cut> {};
struct halves : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<6>, tiles>;
using B = sharded_tensor<float, extents<6>, halves>;
auto use() { return abstract<A>() + abstract<B>(); }
