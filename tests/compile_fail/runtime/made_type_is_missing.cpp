// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::made_type_is_not_a_tensor,
// expect: shardwise::nothing_given>
// expect: the type of the tensor to make is the template argument: sharded_tensor<T, extents<...>, layout<...>>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
auto use(const device_pool& pool) { return distribute(pool, std::vector<float>(64)); }
