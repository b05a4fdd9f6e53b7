// SPDX-License-Identifier: BSL-1.0
// expect: a device holds at most 64 bytes
// expect: 144 <= 64
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8, 8>, layout<pod, P<"x", none>>>;
constexpr auto cost = trace([](const auto& a) { return sum<1>(a); }, abstract<A>());
static_assert(cost.peak_bytes_per_device() <= 64, "a device holds at most 64 bytes");
