// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::split_would_move,
// expect: shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::called<2>{"y"}
// expect: reshard<P<by(x, y), none>>(operand
// expect: a split stays on the major part of a dimension, so that no element moves
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", "y">>>;
auto use() { return reshape<extents<128>>(abstract<A>()); }
