// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::expression_is_assigned,
// expect: shardwise::as_written<shardwise::fixed_string<9>{"f32[8@x]"}>>
// expect: auto names one expression; what is assigned is a sharded_tensor or an any_tensor
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
void use(const A& a) {
  auto b = a * 2.0F;
  b = a * 3.0F;
}
