// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::axis_would_split_twice, shardwise::einsum_of<
// expect: shardwise::called<6>{"model"}
// expect: a mesh axis splits one dimension of an operation
// expect: axis_would_split_twice_of_three.cpp:18
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec, index_t... N>
using tensor = sharded_tensor<float, extents<N...>, layout<pod, Spec>>;
using A = tensor<P<"model", none>, 64, 512>;
using B = tensor<P<none, "model">, 512, 64>;

auto use(const A& a, const B& b) {
  // Two of the three operands are contracted first, and these conflict.
  return einsum<"ab,bc,cd->ad">(a, b, a);
}
