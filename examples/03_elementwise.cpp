// SPDX-License-Identifier: BSL-1.0
// Elementwise functions are lazy: an expression owns its operands, is fused into one pass over each
// shard, and runs when its values are read. A named value is computed once, however often it is
// read.
#include <shardwise/shardwise.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};

using tiles = sharded_tensor<float, extents<64, 32>, layout<pod, P<"data", "model">>>;
using column_scale = sharded_tensor<float, extents<32>, layout<pod, P<"model">>>;

// Returns an expression of its own local tensors: the expression owns them, so no reference
// dangles.
auto scaled(const device_pool& pool) {
  const auto x = iota<tiles>(pool);
  const auto scale = full<column_scale>(pool, 0.5F);
  return relu(x * scale - 100.0F);  // scale is broadcast to every row, 100 to every element
}

int main() {
  device_pool pool{pod{}};
  auto y = scaled(pool);
  std::cout << "Three functions, one pass:\n" << explain(y) << '\n';

  // y is a named value: both expressions read the same result.
  auto root = sqrt(y);
  auto back = square(root);
  sync(root, back);
  std::cout << "After sync there is nothing left to do:\n" << explain(root) << '\n';

  const auto values = to_host(back);
  float worst = 0;
  for (index_t i = 0; i < 64; ++i)
    for (index_t j = 0; j < 32; ++j) {
      const float want = std::max(static_cast<float>(i * 32 + j) * 0.5F - 100.0F, 0.0F);
      worst = std::max(worst, std::abs(values(i, j) - want) / (1.0F + want));
    }
  std::cout << "largest relative error of square(sqrt(y)): " << worst << '\n';
  return worst < 1e-6F ? 0 : 1;
}
