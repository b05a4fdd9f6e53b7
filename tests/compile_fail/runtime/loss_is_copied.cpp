// SPDX-License-Identifier: BSL-1.0
// expect: operator double() const = delete;  // exp(x), not std::exp(x); to_host(x).value() of rank 0
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using S = sharded_tensor<float, extents<>, layout<pod, P<>>>;
float use(const S& loss) {
  const float number = loss;
  return number;
}
