// SPDX-License-Identifier: BSL-1.0
// Of two dyn extents the data tell neither.
// expect: shardwise::broken_rule<shardwise::misuse::argument_is_unexpected,
// expect: shardwise::of_types<shardwise::nothing_given,
// expect: after the pool come the values, then one size for each dyn extent
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using D = sharded_tensor<float, extents<dyn, dyn>, layout<pod, P<"data", none>>>;
auto use(const device_pool& pool) { return distribute<D>(pool, std::vector<float>(8)); }
