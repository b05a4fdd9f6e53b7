// SPDX-License-Identifier: BSL-1.0
// expect: void begin() const = delete;
// expect: // for (float v : to_host(x).elements())
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
float use(const A& a) {
  float total = 0;
  for (const float v : a) total += v;
  return total;
}
