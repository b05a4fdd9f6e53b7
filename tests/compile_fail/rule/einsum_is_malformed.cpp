// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::einsum_is_malformed,
// expect: shardwise::einsum_of<shardwise::fixed_string<9>{"ij,jk-ik"}>, shardwise::at_character{5}>
// expect: an einsum reads like "bi,io->bo", with up to 8 operands of at most 8 letters
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<none, none>> {};
using A = sharded_tensor<float, extents<4, 4>, whole>;
using B = sharded_tensor<float, extents<4, 4>, whole>;
auto use() { return einsum<"ij,jk-ik">(abstract<A>(), abstract<B>()); }
