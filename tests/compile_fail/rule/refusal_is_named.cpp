// SPDX-License-Identifier: BSL-1.0
// What follows a refused operation takes its result for what it needs, in silence.
// expect: shardwise::operand_layouts_conflict<shardwise::pointwise<shardwise::functions::multiply>,
// expect: shardwise::operand<1>::dimension<0>, shardwise::fixed_string<6>{"model"},
// expect: dimensions that meet are split alike
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"model", "data">>>;
X scaled(const X& x, const W& w) { return relu(x) * w + 1.0F; }
X use(const X& x, const W& w) {
  X y = scaled(x, w);
  y = scaled(y, w) - 1.0F;
  return y;
}
