// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict, shardwise::attention_of<shardwise::attends::to_earlier>,
// longest-line: 2200
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>, axis<"expert", 2>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using queries = tensor<P<none, "model", none>, 8, 2, 4>;
using keys = tensor<P<none, "expert", none>, 8, 2, 4>;
using merge = tensor<P<"model", none, none>, 2, 4, 8>;
using X = tensor<P<"data", none, none>, 4, 3, 8>;
auto use(const nn::attention<queries, keys, keys, merge, P<"data", none, none>>& attend,
         const X& x) {
  return attend(x) * 2;
}
