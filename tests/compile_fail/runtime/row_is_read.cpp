// SPDX-License-Identifier: BSL-1.0
// expect: operator[](const I&) const = delete;  // to_host(x)(i, j) is an element; local(x, d) a shard
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use(const A& a) { return a[0]; }
