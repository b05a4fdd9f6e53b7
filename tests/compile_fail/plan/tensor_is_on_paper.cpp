// SPDX-License-Identifier: BSL-1.0
// A variable of a traced function has the type of a tensor in a pool.
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_on_paper, pod,
// expect: "f32[8@data, 16]"
// expect: the tensors of a traced function are abstract: declare its parameters and variables
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
constexpr auto total = [](const auto& x) {
  const X h = relu(x);
  return sum(h * h);
};
constexpr auto cost = trace(total, abstract<X>());
static_assert(cost.collectives() == 0);
