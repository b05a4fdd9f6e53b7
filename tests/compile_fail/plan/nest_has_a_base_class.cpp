// SPDX-License-Identifier: BSL-1.0
// expect: a class of a nest has no base class, or its tensors would not be found: make the base a member
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
struct layer {
  A weight;
};
struct layer_with_bias : layer {
  A bias;
};
struct look {
  void operator()(const leaf_path&, const auto&) const {}
};
void f(const layer_with_bias& m) { for_each_parameter(m, look{}); }
