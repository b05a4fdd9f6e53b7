// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::concatenate_of<0>, shardwise::operand_at{0}, shardwise::dimension_at{0}, shardwise::called<2>{"x"}
// expect: reshard<P<none, none>>(operand 0)
// expect: or_across<2>{"x"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", none>>>;
auto use() {
  auto a = abstract<A>();
  return concatenate<0>(a, a, a, a, a, a, a, a, a, a);
}
