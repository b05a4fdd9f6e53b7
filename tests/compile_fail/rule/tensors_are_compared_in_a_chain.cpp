// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::of_types<>, shardwise::suggested<12>{"equal(a, b)"}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
const auto x = abstract<A>(), y = abstract<A>();
auto use() { return where(x == y == 1, x, y) + where(x < (y == x), x, y); }
