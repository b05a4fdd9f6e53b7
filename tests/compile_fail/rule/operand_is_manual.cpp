// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_manual,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{0}, shardwise::called<2>{"x"}>
// expect: an axis that is manual in an operation neither splits a dimension nor is pending in it
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
using X = sharded_tensor<float, extents<8>, rows>;
using Y = sharded_tensor<float, extents<4>, rows>;

constexpr auto mixed = enable_manual_sharding(abstract<X>()) + abstract<Y>();
