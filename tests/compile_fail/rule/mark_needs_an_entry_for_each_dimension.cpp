// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::rank_differs_from_spec,
// expect: shardwise::of_types<shardwise::P<shardwise::fixed_string<2>{"x"}>, shardwise::extents<8, 8>>, shardwise::size_met{1}, shardwise::size_needed{2}>
// expect: shardwise::extents<8, 8>>
// expect: a partition spec has one entry for each dimension of its tensor
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none, none>> {};
using A = sharded_tensor<float, extents<8, 8>, whole>;
auto use() { return mark_sharding<P<"x">>(abstract<A>()); }
