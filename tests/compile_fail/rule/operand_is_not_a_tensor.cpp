// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::operand_is_not_a_tensor,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::add>, std::array<float, 8>>, shardwise::operand_at{1}>
// expect: an operand is a tensor, on paper abstract<X>(), or in elementwise functions a number
#include <shardwise/paper.hpp>

#include <array>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
auto use() { return abstract<A>() + std::array<float, 8>{}; }
