// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::partial_value_is_read<shardwise::fold_of<
// expect: shardwise::operand<0>, shardwise::fixed_string<6>{"model"}, shardwise::fixed_string<34>{"reshard<P<data, none>>(operand 0)"}>
// expect: a pending reduction is finished before its value is read
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using T = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", none>, partial<"model">>>;
auto use(const T& terms) { return max<0>(terms); }
