// SPDX-License-Identifier: BSL-1.0
// The step, and what reads its result, cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;
struct total_of {
  auto operator()(const auto& x, const auto& y) const { return std::tuple(sum(x + y), x); }
};
void use(const X& x, const Y& y) {
  auto compiled = step(total_of{});
  const auto [total, kept] = compiled(x, y);
  std::cout << to_host(total) << to_host(kept);
}
