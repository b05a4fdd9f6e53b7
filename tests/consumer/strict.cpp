// SPDX-License-Identifier: BSL-1.0
// A program whose variables have names that templates of the library use for their own.
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
using X = sharded_tensor<float, extents<8, 4>, layout<pod, P<"data", none>>>;
using W = sharded_tensor<float, extents<4, 6>, layout<pod, P<none, "model">>>;

constexpr auto x = abstract<X>();
constexpr auto w = abstract<W>();
constexpr int s = 1, at = 2, each = 3, code = 4, first = 5, out = 6, i = 7, result = 8;
constexpr auto f = [](const auto& a, const auto& b) {
  return sum(relu(einsum<"bi,io->bo">(a, b)));
};
static_assert(trace(gradient<0, 1>(f), x, w).flops() >
              s + at + each + code + first + out + i + result);
