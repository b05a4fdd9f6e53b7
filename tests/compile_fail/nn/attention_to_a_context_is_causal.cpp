// SPDX-License-Identifier: BSL-1.0
// The positions of a context are not those of the input, so none of them is a later one.
// expect: attention to a context must be bidirectional: its positions are not those of x; an attention_mask may exclude some of them
// longest-line: 1700
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using into = sharded_tensor<float, extents<8, 2, 4>, layout<pod, P<none, none, none>>>;
using merge = sharded_tensor<float, extents<2, 4, 8>, layout<pod, P<none, none, none>>>;
using rows = layout<pod, P<"data", none, none>>;
using X = sharded_tensor<float, extents<4, 3, 8>, rows>;
using Context = sharded_tensor<float, extents<4, 5, 8>, rows>;
auto use(const nn::attention<into, into, into, merge>& heads, const X& x, const Context& context) {
  return heads(x, context);
}
