// SPDX-License-Identifier: BSL-1.0
// expect: explicit operator N() const = delete;  // to_host(x).value() is the one number of rank 0
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using S = sharded_tensor<float, extents<>, layout<pod, P<>>>;
float use(const S& loss) { return static_cast<float>(loss); }
