// SPDX-License-Identifier: BSL-1.0
// expect: a cache belongs to an nn::attention, or to a module that contains one
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

void use(const device_pool& pool, const any_tensor<float>& x) {
  const nn::linear<any_tensor<float>> layer{x};
  (void)nn::empty_cache(pool, layer, x, 512);
}
