// SPDX-License-Identifier: BSL-1.0
// An error in the weights of a loss is the only one.
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_out_of_range
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<none, none>> {};
struct flat : layout<pod, P<none>> {};
using X = sharded_tensor<float, extents<8, 3>, rows>;
using Y = sharded_tensor<std::int32_t, extents<8>, flat>;
using W = sharded_tensor<float, extents<3>, flat>;
auto use(const X& x, const Y& y, const W& w) { return nn::cross_entropy(x, y, sum<7>(w)); }
