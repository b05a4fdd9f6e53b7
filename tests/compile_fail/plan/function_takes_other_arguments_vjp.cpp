// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::function_takes_other_arguments,
// expect: shardwise::size_met{1}, shardwise::suggested<
// expect: {"vjp(f, x, w)"}
// expect: the function cannot be called with these arguments, in this order
// longest-line: 600
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
using X = sharded_tensor<float, extents<8, 16>, layout<pod, P<"data", none>>>;
inline constexpr auto f = [](const auto& x, const auto& w) { return x * w; };
auto use(const X& x) { return vjp(f, x); }
