// SPDX-License-Identifier: BSL-1.0
// An integer of rank 0 in the place of a mask is not taken for the position of the first query.
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_mask,
// expect: shardwise::of_types<shardwise::attention_of<shardwise::attends::to_earlier>, int>
// longest-line: 2200
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using into = sharded_tensor<float, extents<8, 2, 4>, layout<pod, P<none, none, none>>>;
using merge = sharded_tensor<float, extents<2, 4, 8>, layout<pod, P<none, none, none>>>;
using heads = nn::attention<into, into, into, merge, P<"data", none, none>>;
using X = sharded_tensor<float, extents<4, 3, 8>, layout<pod, P<"data", none, none>>>;
auto use(const heads& attend, const X& x, const any_tensor<int>& mask,
         nn::cache_for<heads, X, 16>& cache) {
  return attend(x, cache, nn::attention_mask{mask});
}
