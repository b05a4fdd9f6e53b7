// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<shardwise::soft_shrink_of, float>, shardwise::operand_at{0}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const A& a) {
  auto y = soft_shrink(2.0F, a);
  return y * 2.0F;
}
