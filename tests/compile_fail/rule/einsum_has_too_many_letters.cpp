// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::einsum_is_malformed,
// expect: shardwise::einsum_of<shardwise::fixed_string<13>{"abcdefghi->a"}>, shardwise::at_character{8}>
// expect: with up to 8 operands of at most 8 letters
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
constexpr auto a = abstract<sharded_tensor<float, extents<8>, layout<pod, P<"x">>>>();
constexpr auto sum = einsum<"abcdefghi->a">(a);
