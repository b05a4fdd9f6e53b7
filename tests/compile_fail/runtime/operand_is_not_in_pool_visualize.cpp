// SPDX-License-Identifier: BSL-1.0
// expect: {"visualize"}
// expect: {"[x, y] on mesh(x=2, y=4)"}
// expect: what is computed or read is a tensor in a device pool
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
void use() { visualize(typename A::layout_type{}); }
