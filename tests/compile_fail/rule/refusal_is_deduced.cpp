// SPDX-License-Identifier: BSL-1.0
// A variable whose type is deduced from the result of an invalid operation, and everything that
// uses it, compiles without further errors.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::cumsum_of<0>, shardwise::operand_at{0}, shardwise::dimension_at{0},
// expect: a dimension needed whole is not split
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
float use(const X& x) {
  sharded_tensor y = cumsum<0>(x);
  const sharded_tensor again = y, z = relu(y) * 2.0F;
  y = y + 1.0F;
  y = z;
  X named = y;
  sync(y, again, z);
  float total = to_host(z)(0, 0);
  for (const float v : to_host(y).elements()) total += v;
  return total;
}
