// SPDX-License-Identifier: BSL-1.0
// The module that would be called with the invalid input is not part of the message.
// expect: shardwise::broken_rule<shardwise::violation::rank_differs_from_spec,
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
struct twice {
  auto operator()(const auto& x) const { return exp(x + x) + x; }
};
void use(const nn::between<twice, P<"data">>& module, const X& x) {
  std::cout << to_host(module(x));
}
