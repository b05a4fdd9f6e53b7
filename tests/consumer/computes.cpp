// SPDX-License-Identifier: BSL-1.0
// A program that runs tensors, and compiles no kernel for it.
#include <shardwise/shardwise.hpp>

#if !defined(SHARDWISE_COMPILED)
#error "who links the compiled library is told so"
#endif

using namespace shardwise;

struct four : mesh<axis<"x", 4>> {};
using V = sharded_tensor<float, extents<8, 8>, layout<four, P<"x", none>>>;
using W = sharded_tensor<float, extents<8, 8>, layout<four, P<none, none>>>;

int main() {
  device_pool pool{four{}};
  const auto x = iota<V>(pool);
  const auto y = einsum<"ij,jk->ik">(relu(x - 1.0F) * 2.0F, full<W>(pool, 0.5F));
  // 0 + 0 + 1 + ... + 6.
  return to_host(y)(0, 0) == 21.0F ? 0 : 1;
}
