// SPDX-License-Identifier: BSL-1.0
// The layouts of an invalid mesh cause no further errors.
// expect: shardwise::broken_rule<shardwise::violation::axis_size_is_not_positive,
// expect: shardwise::of_text::mesh<shardwise::fixed_string<9>{"x=0, y=4"}>, shardwise::called<2>{"x"}, shardwise::size_met{0}, shardwise::size_needed{1}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x">, axis<"y", 4>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
constexpr auto cost = trace([](const auto& a) { return a + a; }, abstract<A>());
