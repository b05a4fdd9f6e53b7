// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::of_types<>, shardwise::suggested<12>{"equal(a, b)"}>
// expect: a tensor is not one number or bool: write exp(x) without std::, where(c, x, y) for if, to_host(x) to read
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
bool use(const A& a, const A& b) { return a == b; }
