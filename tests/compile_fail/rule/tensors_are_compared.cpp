// SPDX-License-Identifier: BSL-1.0
// expect: operator==
// expect: deleted
// expect: equal(a, b) tells it of each element
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
bool use(const A& a, const A& b) { return a == b; }
