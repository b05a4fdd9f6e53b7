// SPDX-License-Identifier: BSL-1.0
// The least that computes something: what a compiler emits for it, CMakeLists.txt limits.
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct line : mesh<axis<"x", 4>> {};
using rows = sharded_tensor<float, extents<8, 8>, layout<line, P<"x", none>>>;

int main() {
  const device_pool pool{line{}};
  const auto x = iota<rows>(pool);
  return to_host(relu(x))(0, 1) == 1.0F ? 0 : 1;
}
