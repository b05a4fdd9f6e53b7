// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::made_type_is_not_a_tensor,
// expect: shardwise::as_written<shardwise::fixed_string<25>{"[x, y] on mesh(x=2, y=4)"}>>
// expect: {"[x, y] on mesh(x=2, y=4)"}
// expect: the type of the tensor to make is the template argument: sharded_tensor<T, extents<...>, layout<...>>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use(const device_pool& pool) { return zeros<typename A::layout_type>(pool); }
