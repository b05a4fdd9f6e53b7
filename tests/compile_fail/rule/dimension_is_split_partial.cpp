// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::dimension_is_split,
// expect: as_partial_of
// expect: shardwise::called<5>{"data"}
// expect: shardwise::dimension_at{0}
// expect: reshard<P<none, none>>(operand 0)
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;

constexpr auto terms = as_partial<"data">(abstract<X>());
