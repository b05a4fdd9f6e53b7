// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::rank_is_too_high,
// expect: shardwise::of_types<>, shardwise::dimension_at{8}>
// expect: a tensor has at most 8 dimensions
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using rows = layout<pod, P<"x", none, none, none, none, none, none, none, none>>;
using A = sharded_tensor<float, extents<2, 2, 2, 2, 2, 2, 2, 2>, rows>;
constexpr layout_desc value = rows::value;
