// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::elements_are_no_integers,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::left_shift>, bool>>
// expect: bitwise operations and shifts need integers: cast<std::int32_t>(x) converts numbers
#include <shardwise/shardwise.hpp>

using namespace shardwise;

auto use(const any_tensor<bool>& x) { return to_host(left_shift(x, true)); }
