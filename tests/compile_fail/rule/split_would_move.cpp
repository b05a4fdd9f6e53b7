// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::split_would_move<shardwise::reshape_of<shardwise::extents<128>
// expect: reshard<P<x, none>>(operand 0)
// expect: no element moves: what splits an operand splits the major part of a dimension of the result
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", "y">>>;
auto use() { return reshape<extents<128>>(abstract<A>()); }
