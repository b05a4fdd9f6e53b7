// SPDX-License-Identifier: BSL-1.0
// The larger elements of two tensors are maximum(a, b).
// expect: explicit operator N() const = delete;  // to_host(x).value() is the one number of rank 0
#include <shardwise/shardwise.hpp>

#include <algorithm>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", "y">>>;
auto use(const A& a, const A& b) { return std::max(a, b); }
