// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_sizes_differ<shardwise::pointwise<shardwise::functions::add>,
// expect: shardwise::operand<1>::dimension<0>, shardwise::extent<6>,
// expect: shardwise::extent<4>>
// expect: dimensions that meet in an operation have the same size
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<4>, whole>;
using B = sharded_tensor<float, extents<6>, whole>;
auto use() { return abstract<A>() + abstract<B>(); }
