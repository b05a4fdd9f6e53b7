// SPDX-License-Identifier: BSL-1.0
// expect: operator N() const = delete;  // to_host(x).value() is the one number of rank 0
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>> {};
struct rows : layout<pod, P<"x">> {};
using X = sharded_tensor<float, extents<8>, rows>;

float use(const X& x) {
  float value = sum(x);
  return value;
}
