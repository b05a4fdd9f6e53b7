// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::of_types<shardwise::hard_shrink_of>
// expect: where(abs(x) > t, x, 0)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const A& a) {
  auto y = hard_shrink(a, a);
  return y * 2.0F;
}
