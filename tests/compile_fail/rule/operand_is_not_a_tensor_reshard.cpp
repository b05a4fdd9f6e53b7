// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::operand_is_not_a_tensor<shardwise::resharding, shardwise::operand<0>, int>
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use() { return reshard<P<"data">>(3); }
