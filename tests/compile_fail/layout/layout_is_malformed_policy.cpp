// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::layout_is_malformed,
// expect: pod, shardwise::argument_at{3}>
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
constexpr auto value = layout<pod, P<"x">, partial<>, pod>::value;
