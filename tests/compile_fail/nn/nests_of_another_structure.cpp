// SPDX-License-Identifier: BSL-1.0
// Nests that are visited together correspond.
// expect: nests that are visited together have the same structure
// longest-line: 1400
// Errors are reached by the shortest way.
// clang-format off
#include <shardwise/shardwise.hpp>
#include <shardwise/nn.hpp>
// clang-format on

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using W = nn::whole<float, pod, 8, 4>;
void use(nn::linear<W>& a, const nn::linear<W, nn::whole<float, pod, 4>>& b) {
  for_each_parameter(a, b, [](const leaf_path&, auto&, const auto&) {});
}
