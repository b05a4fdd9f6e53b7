// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: shardwise::flip_of<1>, shardwise::operand_at{0}, shardwise::dimension_at{1}, shardwise::called<6>{"model"}
// expect: reshard<P<data, none>>(operand 0)
// expect: or_across<6>{"model"}
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", "model">>>;
auto use() { return flip<1>(abstract<X>()); }
