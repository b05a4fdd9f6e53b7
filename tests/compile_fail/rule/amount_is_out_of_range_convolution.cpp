// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::amount_is_out_of_range,
// expect: shardwise::size_met{0}, shardwise::size_needed{1}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using X = sharded_tensor<float, extents<8, 4, 32>, layout<pod, P<"x", none, none>>>;
using W = sharded_tensor<float, extents<6, 4, 3>, layout<pod, P<none, none, none>>>;
auto use() { return convolution<feature_groups<0>>(abstract<X>(), abstract<W>()); }
