// SPDX-License-Identifier: BSL-1.0
// expect: attention with a cache must be causal: later positions do not exist yet
// longest-line: 2200
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using into = sharded_tensor<float, extents<8, 2, 4>, layout<pod, P<none, none, none>>>;
using merge = sharded_tensor<float, extents<2, 4, 8>, layout<pod, P<none, none, none>>>;
using heads = nn::attention<into, into, into, merge, P<"data", none, none>, nn::bidirectional>;
using X = sharded_tensor<float, extents<4, 3, 8>, layout<pod, P<"data", none, none>>>;
auto use(const heads& attend, const X& x, nn::cache_for<heads, X, 16>& cache) {
  return attend(x, cache) * 2;
}
