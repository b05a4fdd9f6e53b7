// SPDX-License-Identifier: BSL-1.0
// Everything that uses the result of an invalid operation compiles without further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::multiply>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 1)"}>
// expect: corresponding dimensions are split the same way
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
