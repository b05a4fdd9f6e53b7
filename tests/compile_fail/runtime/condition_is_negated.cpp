// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::of_types<>, shardwise::suggested<15>{"logical_not(a)"}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

any_tensor<float> use(const any_tensor<float>& x) { return where(!(x > 0), x, 0); }
