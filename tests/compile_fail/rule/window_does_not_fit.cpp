// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::window_does_not_fit,
// expect: shardwise::size_met{1}, shardwise::size_needed{2}>
// expect: windows fit into the padded tensor, with a number for each spatial dimension
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<8, 3, 32, 32>, layout<pod, P<"x", none, none, none>>>;
using W = sharded_tensor<float, extents<16, 3, 3, 3>, layout<pod, P<"y", none, none, none>>>;
auto use() { return convolution<strides<2>>(abstract<X>(), abstract<W>()); }
