// SPDX-License-Identifier: BSL-1.0
// A mesh in the place of a layout; there are no further errors.
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_malformed,
// expect: pod, shardwise::argument_at{2}>
// expect: a sharded_tensor has an element type, extents<...> and a layout, in this order
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<dyn>, pod>;
constexpr auto cost = trace([](const auto& a) { return a + a; }, abstract<A>(8));
