// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 1)"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"model", "data">>>;
void use(X& x, const W& w) {
  const auto sum = x + w;
  x = sum * 2.0F;
  x -= sum;
  const X y = sum;
}
