// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_sizes_differ<shardwise::einsum_of<
// expect: shardwise::fixed_string<6>{"ii->i"}>,
// expect: shardwise::operand<0>::dimension<1>, shardwise::extent<6>,
// expect: shardwise::extent<4>>
// expect: dimensions that meet in an operation have the same size
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<4, 6>, layout<pod, P<none, none>>>;
auto use() { return einsum<"ii->i">(abstract<A>()); }
