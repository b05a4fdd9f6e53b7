// SPDX-License-Identifier: BSL-1.0
// expect: takes_sizes<shardwise::extents<8, 8>, 1>
// expect: a tensor is made with one size for each of its dyn extents, in order
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use() { return zeros<A>(8); }
