// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::truth_values_are_compared,
// expect: shardwise::pointwise<shardwise::functions::greater>, shardwise::operand_at{0}>
// expect: which is compared only with bool: 0 < x < 1 is logical_and(0 < x, x < 1)
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<double, extents<8>, layout<pod, P<"x">>>;
auto use(const A& a) { return 1 > (a >= 0.5) > 0.0; }
