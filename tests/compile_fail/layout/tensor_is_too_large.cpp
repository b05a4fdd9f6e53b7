// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::tensor_is_too_large,
// expect: shardwise::of_types<>, shardwise::dimension_at{1}, shardwise::size_met{4294967296}, shardwise::size_below{16777217}>
// expect: a tensor has at most 2^56 elements
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using X = sharded_tensor<float, extents<4294967296, 4294967296>, layout<pod, P<"x", none>>>;
auto use() { return abstract<X>(); }
