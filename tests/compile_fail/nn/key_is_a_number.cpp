// SPDX-License-Identifier: BSL-1.0
// expect: a key is a random_key or a tensor of one: drop(x, random_key{1})
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x", none>> {};
using A = sharded_tensor<float, extents<8, 8>, rows>;
auto use(const A& a) {
  auto y = nn::dropout<>{}(a, 42);
  return y * 2.0F;
}
