// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::of_types<>, shardwise::suggested<16>{"not_equal(a, b)"}>
// expect: a tensor is not one number or bool: write exp(x) without std::, where(c, x, y) for if, to_host(x) to read
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using A = sharded_tensor<float, extents<512, 1024>, layout<pod, P<"data", "model">>>;
bool use(const A& a) { return a != 0; }
