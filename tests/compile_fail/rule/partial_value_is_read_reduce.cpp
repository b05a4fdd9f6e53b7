// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::partial_value_is_read,
// expect: shardwise::reduction_of<shardwise::reduction::max, 1, false>, shardwise::operand_at{0}, shardwise::called<6>{"model"}, shardwise::suggested<34>{"reshard<P<data, none>>(operand 0)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using T =
    sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", none>, partial<"model">>>;
auto use(const T& terms) { return max<0>(terms); }
