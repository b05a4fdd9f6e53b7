// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor, shardwise::of_types<double>,
// expect: operand_at{1}
// expect-gcc: suggested<32>{"sum<0>(cast<int>(sorted < 3.5))"}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using V = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
auto use(const V& bounds) {
  auto y = searchsorted(bounds, 3.5);
  return y + 2;
}
