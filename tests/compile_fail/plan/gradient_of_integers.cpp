// SPDX-License-Identifier: BSL-1.0
// expect: broken_rule<shardwise::misuse::elements_have_no_fractions, shardwise::as_written<
// expect: i32[4@data]
// expect: random numbers, roots, exponentials, means and gradients need floating-point elements
// longest-line: 600
#include <shardwise/shardwise.hpp>
using namespace shardwise;

struct pod : mesh<axis<"data", 2>> {};
using counts = sharded_tensor<std::int32_t, extents<4>, layout<pod, P<"data">>>;

auto slope(const counts& x) {
  return gradient([](const auto& n) { return sum(cast<float>(n) * 0.5F); })(x);
}
