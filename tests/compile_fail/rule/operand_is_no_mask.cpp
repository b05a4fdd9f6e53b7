// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_mask,
// expect: shardwise::of_types<shardwise::attention_of<shardwise::attends::to_earlier>, int>, shardwise::operand_at{3}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using Q = sharded_tensor<float, extents<4, 2, 3, 4>, layout<pod, P<"data", none, none, none>>>;
using Pairs = sharded_tensor<std::int32_t, extents<3, 3>, layout<pod, P<none, none>>>;
auto use(const Q& q, const Pairs& pairs) {
  return attention<attends::to_earlier>(q, q, q, pairs) * 2;
}
