// SPDX-License-Identifier: BSL-1.0
// Integers may initialise a floating-point tensor, but fractions not a tensor of integers.
// expect: shardwise::broken_rule<shardwise::misuse::host_elements_differ,
// expect: shardwise::of_types<double, int>>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<std::int32_t, extents<8, 8>, layout<pod, P<"x", "y">>>;
using nested = std::vector<std::vector<double>>;
auto use(const device_pool& pool, const nested& n) { return distribute<A>(pool, n); }
