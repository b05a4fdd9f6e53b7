// SPDX-License-Identifier: BSL-1.0
// The sum is the error; the tangent and the pullback cause no further ones.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;

void use(const X& x, const Y& y) {
  const auto both = x + y;
  const auto [value, tangent] = jvp([](const auto& v) { return exp(v); }, both, x);
  const auto [result, pull] = vjp([](const auto& v) { return exp(v); }, both);
  std::cout << to_host(relu(value)) << to_host(tangent) << to_host(pull(result));
}
