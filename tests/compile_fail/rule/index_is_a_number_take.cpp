// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::options_are_template_arguments, shardwise::of_types<>,
// expect: suggested<18>{"index_at<0, 2>(x)"}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
auto use(const A& a) {
  auto y = take<0>(a, 2);
  return y * 2.0F;
}
