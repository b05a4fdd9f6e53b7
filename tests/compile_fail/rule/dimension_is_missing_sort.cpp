// SPDX-License-Identifier: BSL-1.0
// expect-gcc: use of deleted function
// expect: = delete;  // sort<1>(x), sort<1>(x, descending)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use(const A& a) {
  auto y = sort(a);
  return y * 2.0F;
}
