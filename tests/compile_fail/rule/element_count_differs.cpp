// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::element_count_differs,
// expect: shardwise::operand_at{0}, shardwise::size_met{64}, shardwise::size_needed{128}
// expect: a reshape keeps the number of elements, and leaves at most one extent open
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", none>>>;
auto use() { return reshape<extents<4, 4, 4>>(abstract<A>()); }
