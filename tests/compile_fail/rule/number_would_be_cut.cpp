// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::number_would_be_cut,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::multiply>, int>, shardwise::operand_at{1}>
// expect: a number beside tensors is one of their element type
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<std::int32_t, extents<8>, layout<pod, P<"x">>>;
auto use() { return abstract<A>() * 0.5; }
