// SPDX-License-Identifier: BSL-1.0
// An abstract tensor is not the tensor that it represents.
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_operands,
// expect: twice, shardwise::size_met{1}>
// expect: a traced function is const and takes the tensors of trace, one or more, each by
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using A = sharded_tensor<float, extents<8>, rows>;
struct twice {
  auto operator()(const A& a) const { return a + a; }
};
cost_ledger cost() { return trace(twice{}, abstract<A>()); }
