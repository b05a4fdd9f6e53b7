// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::size_met{6}, shardwise::size_needed{4}>
// expect: corresponding dimensions of operands have the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none>> {};
using A = sharded_tensor<float, extents<4>, whole>;
using B = sharded_tensor<float, extents<6>, whole>;
auto use() { return abstract<A>() + abstract<B>(); }
