// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_not_a_number,
// expect: shardwise::converted_to<bool>, shardwise::suggested<32>{"where(x, a, b) or maximum(a, b)"}>
// expect: a tensor is not one number or bool: write exp(x) without std::, where(c, x, y) for if, to_host(x) to read
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
struct halved {
  constexpr auto operator()(const auto& x) const {
    if (x > 0) return x * 0.5F;
    return x * 1.0F;
  }
};
constexpr auto cost = trace(halved{}, abstract<A>());
