// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_number,
// expect: shardwise::pointwise<shardwise::functions::multiply>, shardwise::operand_at{0}>
// expect: arithmetic needs numbers: where(c, 1.0F, 0.0F) or cast<float>(c) converts truth values
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 4>, layout<pod, P<"x", none>>>;
auto use() { return (abstract<A>() > 0) * (abstract<A>() > 1); }
