// SPDX-License-Identifier: BSL-1.0
// An abstract tensor is not the tensor that it represents.
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_on_paper, pod,
// expect: "f32[8@x]"
// expect: the tensors of a traced function are abstract: declare its parameters and variables
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
struct twice {
  auto operator()(const A& a) const { return a + a; }
};
cost_ledger cost() { return trace(twice{}, abstract<A>()); }
