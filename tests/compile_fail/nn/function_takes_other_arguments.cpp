// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_arguments,
// expect: shardwise::size_met{2}, shardwise::suggested<
// expect: {"scan(f, carry, layers)"}
// expect: the function cannot be called with these arguments, in this order
// longest-line: 600
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
using S = sharded_tensor<float, extents<4, 16, 16>, layout<pod, P<none, none, none>>>;
auto use(const X& x, const S& layers) {
  return scan([](const auto& h) { return relu(h); }, x, layers);
}
