// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::layer_returns_no_carry
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct whole : layout<pod, P<none, none>> {};
struct layers : layout<pod, P<none, none, none>> {};
using W = sharded_tensor<float, extents<4, 4>, whole>;
struct state {
  W h, c;
};
auto f(const state& start, const sharded_tensor<float, extents<3, 4, 4>, layers>& xs) {
  return scan(
      [](const auto& s, const auto& x) {
        return std::tuple{s.h + x, s.c, s.c};
      },
      start, xs);
}
