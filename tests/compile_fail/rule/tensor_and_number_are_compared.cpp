// SPDX-License-Identifier: BSL-1.0
// expect-gcc: operator!=
// expect: deleted
// expect: not_equal(a, b) tells it of each element
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using A = sharded_tensor<float, extents<512, 1024>, layout<pod, P<"data", "model">>>;
bool use(const A& a) { return a != 0; }
