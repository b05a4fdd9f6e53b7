// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimensions_are_no_permutation,
// expect: shardwise::transpose_of<0, 0>, shardwise::dimension_at{1}>
// expect: a transpose names every dimension of its operand once
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
auto use() { return transpose<0, 0>(abstract<A>()); }
