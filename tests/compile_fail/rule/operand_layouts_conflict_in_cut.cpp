// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<2>{"y"},
// expect-gcc: shardwise::suggested<38>{"reshard<P<cut_once(x, y)>>(operand 1)"}>
// expect-clang: shardwise::suggested<38>{"reshard<P<cut_once(x, y)>>(operand[...]"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 2>> {};
struct tiles : layout<pod, P<by("x", "y")>, partial<>, single_cut> {};
struct rows : layout<pod, P<by("x", "y")>, partial<>, uneven> {};
using A = sharded_tensor<float, extents<5>, tiles>;
using B = sharded_tensor<float, extents<5>, rows>;
auto use() { return abstract<A>() + abstract<B>(); }
