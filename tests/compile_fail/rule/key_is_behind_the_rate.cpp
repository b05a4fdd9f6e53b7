// SPDX-License-Identifier: BSL-1.0
// expect-gcc: use of deleted function
// expect: = delete;  // dropout(x, random_key{1}, 0.1)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use(const A& a, random_key key) {
  auto y = dropout(a, 0.1, key);
  return y * 2.0F;
}
