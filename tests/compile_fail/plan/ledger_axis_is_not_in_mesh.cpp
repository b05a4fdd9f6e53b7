// SPDX-License-Identifier: BSL-1.0
// expect: violation::axis_is_not_in_mesh
// expect: function
// expect: fail
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
constexpr auto cost = trace([](const auto& a) { return -a; }, abstract<A>());
constexpr index_t moved = cost.bytes_moved("z");
