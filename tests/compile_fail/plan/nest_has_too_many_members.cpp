// SPDX-License-Identifier: BSL-1.0
// expect: a class of a nest has at most 32 members, or its tensors would not be found: group some
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<none>>>;
struct model {
  A a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
  A c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2;
};
struct look {
  void operator()(const leaf_path&, const auto&) const {}
};
void f(const model& m) { for_each_parameter(m, look{}); }
