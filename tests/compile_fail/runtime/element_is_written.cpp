// SPDX-License-Identifier: BSL-1.0
// expect: {"to_host(x)(i, j)"}
// expect: elements are read on the host, after to_host or local
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
void use(A& a) { a(0, 1) = 3.0F; }
