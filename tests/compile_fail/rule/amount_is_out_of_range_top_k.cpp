// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::amount_is_out_of_range,
// expect: shardwise::top_k_of<1, 0>, shardwise::dimension_at{1}, shardwise::size_met{0}, shardwise::size_needed{1}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use() { return top_k<1, 0>(abstract<A>()); }
