// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::size_met{4}
// expect: shardwise::size_needed{3}
// expect: corresponding dimensions of operands have the same size
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<4, 8>, layout<pod, P<none, "y">>>;
auto use() { return repeat<0, 1, 0, 4>(abstract<A>()); }
