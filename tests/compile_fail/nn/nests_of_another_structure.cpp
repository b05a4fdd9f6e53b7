// SPDX-License-Identifier: BSL-1.0
// Nests that are visited together correspond.
// expect: nests that are visited together have the same structure
// longest-line: 1400
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using W = nn::whole<float, pod, 8, 4>;
void use(nn::linear<W>& a, const nn::linear<W, nn::whole<float, pod, 4>>& b) {
  for_each_parameter(a, b, [](const leaf_path&, auto&, const auto&) {});
}
