// SPDX-License-Identifier: BSL-1.0
// A product, a function and a reshard: what a compiler emits for them, CMakeLists.txt limits.
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
template <class Spec>
using tensor = sharded_tensor<float, extents<8, 8>, layout<pod, Spec>>;

int main() {
  const device_pool pool{pod{}};
  const auto x = iota<tensor<P<"data", "model">>>(pool);
  const auto w = full<tensor<P<"model", none>>>(pool, 0.5F);
  const auto y = reshard<P<"data", none>>(einsum<"ij,jk->ik">(relu(x), w));
  return to_host(y)(0, 0) == 14.0F ? 0 : 1;
}
