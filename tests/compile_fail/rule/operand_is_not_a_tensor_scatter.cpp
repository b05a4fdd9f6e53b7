// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: float>, shardwise::operand_at{2}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
using I = sharded_tensor<std::int32_t, extents<2>, layout<pod, P<none>>>;
auto use(const A& a, const I& at) {
  auto y = scatter<0>(a, at, 2.0F);
  return y * 2.0F;
}
