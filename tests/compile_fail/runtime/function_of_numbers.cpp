// SPDX-License-Identifier: BSL-1.0
// expect: operator double() const = delete;  // exp(x), not std::exp(x); to_host(x).value() of rank 0
#include <shardwise/shardwise.hpp>

#include <cmath>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct tiles : layout<pod, P<"x", "y">> {};
using A = sharded_tensor<float, extents<8, 8>, tiles>;
auto use(const A& a) { return std::exp(a); }
