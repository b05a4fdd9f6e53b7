// SPDX-License-Identifier: BSL-1.0
// expect: N& operator+=(N&, const on_devices&) = delete;  // sum += to_host(x).value()
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct whole : layout<pod, P<>> {};
using S = sharded_tensor<float, extents<>, whole>;
float total(float sum, const S& loss) { return sum += loss; }
