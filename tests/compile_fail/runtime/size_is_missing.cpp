// SPDX-License-Identifier: BSL-1.0
// expect: takes_sizes<shardwise::extents<-1, 8>, 0>
// expect: a tensor is made with one size for each of its dyn extents, in order
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using D = sharded_tensor<float, extents<dyn, 8>, layout<pod, P<"x", "y">>>;
auto use(const device_pool& pool) { return normal<D>(pool, key{1}); }
