// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_are_on_devices,
// expect: shardwise::element_at<int, int>, shardwise::suggested<17>{"to_host(x)(i, j)"}>
// expect: {"to_host(x)(i, j)"}
// expect: elements are read on the host, after to_host or local
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
float use(const A& a) { return a(0, 1); }
