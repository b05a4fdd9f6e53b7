// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: int>, shardwise::operand_at{1}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use(const A& a) {
  auto y = scatter<0, scatter_mode::add>(a, 2, a);
  return y * 2.0F;
}
