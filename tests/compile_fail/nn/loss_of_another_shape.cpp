// SPDX-License-Identifier: BSL-1.0
// A target is not broadcast.
// expect: shardwise::broken_rule<shardwise::violation::operand_rank_differs,
// expect: shardwise::detail::mse_loss
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct column : layout<pod, P<none, none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<4, 1>, column>;
using Y = sharded_tensor<float, extents<4>, flat>;
auto use(const X& x, const Y& y) { return reshard<P<>>(nn::mse(x, y)); }
