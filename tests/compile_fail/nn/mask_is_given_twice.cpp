// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_mask,
// expect: {"logical_and(mask, other)"}
// longest-line: 2500
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
template <class T, index_t... N>
using whole = sharded_tensor<T, extents<N...>, layout<pod, P<((void)N, none)...>>>;
using into = whole<float, 8, 2, 4>;
using heads = nn::attention<into, into, into, whole<float, 2, 4, 8>>;

auto use(const heads& h, const whole<float, 2, 3, 8>& x, const whole<bool, 3, 3>& window,
         const whole<bool, 2, 1, 1, 3>& padding) {
  return h(x, nn::attention_mask{window}, nn::attention_mask{padding});
}
