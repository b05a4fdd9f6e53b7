// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_layouts_conflict<shardwise::pointwise<shardwise::functions::add>,
// expect: shardwise::operand<1>::dimension<0>, shardwise::fixed_string<6>{"model"},
// expect: dimensions that meet are split alike
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
