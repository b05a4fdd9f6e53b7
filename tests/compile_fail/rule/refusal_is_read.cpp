// SPDX-License-Identifier: BSL-1.0
// Reading the result of an invalid operation causes no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_layouts_conflict,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{0}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 1)"}>
// expect: corresponding dimensions are split the same way
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
using W = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"model", "data">>>;
float use(const X& x, const W& w) {
  const auto loss = mean(x + w);
  sync(loss, x);
  std::cout << explain(loss) << to_host(loss) << to_host(loss)(0) << '\n';
  visualize(loss);
  const auto whole = to_host(loss), mine = local(loss, 0);
  return to_host(loss).value();
}
