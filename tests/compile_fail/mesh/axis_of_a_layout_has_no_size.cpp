// SPDX-License-Identifier: BSL-1.0
// The layouts of a mesh that is refused say nothing.
// expect: shardwise::axis_size_is_not_positive<shardwise::fixed_string<2>{"x"}, 0,
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x">, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
constexpr auto cost = trace([](const auto& a) { return a + a; }, abstract<A>());
