// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_have_no_fractions,
// expect: shardwise::of_types<shardwise::random_numbers, int>>
// expect: random numbers, roots, exponentials, means and gradients need floating-point elements
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct split : layout<pod, P<"x">> {};
using A = sharded_tensor<std::int32_t, extents<8>, split>;
auto use(const device_pool& pool) { return uniform<A>(pool, random_key{1}); }
