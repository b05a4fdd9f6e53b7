// SPDX-License-Identifier: BSL-1.0
// Two results are two after an error too.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::max_with_index_of<1>, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::called<2>{"y"}
// expect: reshard<P<x, none>>(operand 0)
// expect: or_across<2>{"y"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 16>, layout<pod, P<"x", "y">>>;
auto use() {
  const auto [best, at] = max_with_index<1>(abstract<A>());
  return best * 2 + cast<float>(at);
}
