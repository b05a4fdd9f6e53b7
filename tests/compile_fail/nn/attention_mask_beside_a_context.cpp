// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_is_no_mask,
// expect: shardwise::of_types<shardwise::attention_of<shardwise::attends::to_all>, bool>, shardwise::suggested<25>{"nn::attention_mask{mask}"}>
// longest-line: 2200
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using into = sharded_tensor<float, extents<8, 2, 4>, layout<pod, P<none, none, none>>>;
using merge = sharded_tensor<float, extents<2, 4, 8>, layout<pod, P<none, none, none>>>;
using heads = nn::attention<into, into, into, merge, P<"data", none, none>, nn::bidirectional>;
using X = sharded_tensor<float, extents<4, 3, 8>, layout<pod, P<"data", none, none>>>;
using Mask = sharded_tensor<bool, extents<3, 3>, layout<pod, P<none, none>>>;
auto use(const heads& attend, const X& x, const Mask& mask) { return attend(x, x, mask) * 2; }
