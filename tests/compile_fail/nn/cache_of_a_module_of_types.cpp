// SPDX-License-Identifier: BSL-1.0
// expect: the cache of a module whose layouts are types is created from its type
// expect: nn::empty_cache<nn::cache_for<Module, X, Capacity>>(pool)
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct whole : layout<pod, P<none, none, none>> {};
struct rows : layout<pod, P<"data", none, none>> {};
using heads = sharded_tensor<float, extents<16, 2, 8>, whole>;
using merge = sharded_tensor<float, extents<2, 8, 16>, whole>;
using X = sharded_tensor<float, extents<4, 1, 16>, rows>;
using module_type = nn::attention<heads, heads, heads, merge>;

void use(const device_pool& pool, const module_type& m, const X& x) {
  (void)nn::empty_cache(pool, m, x, 512);
}
