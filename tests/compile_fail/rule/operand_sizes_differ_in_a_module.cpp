// SPDX-License-Identifier: BSL-1.0
// The error is as short inside two modules and a lambda as where the program calls.
// expect: shardwise::broken_rule<shardwise::violation::operand_sizes_differ,
// expect: shardwise::pointwise<shardwise::functions::add>, shardwise::operand_at{1}, shardwise::dimension_at{1}, shardwise::size_met{6}, shardwise::size_needed{4}>
// clang-format off
#include <shardwise/shardwise.hpp>
// clang-format on

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct rows : layout<pod, P<"data", none>> {};
using X = sharded_tensor<float, extents<8, 4>, rows>;
using Y = sharded_tensor<float, extents<8, 6>, rows>;

struct layer {
  Y weight;

  auto operator()(const auto& x) const { return exp(x + weight); }
};
struct block {
  layer first, second;

  auto operator()(const auto& x) const { return second(first(x)); }
};
void use(const block& b, const X& x) {
  const auto model = [&](const auto& each) { return relu(b(each)); };
  const auto made = model(x);
}
