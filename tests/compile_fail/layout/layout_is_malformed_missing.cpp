// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::layout_is_malformed,
// expect: shardwise::internal::missing, shardwise::argument_at{1}>
// expect: a layout has a mesh, a spec P<...>, a partial<...> and exact, uneven or single_cut, in this order
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
constexpr auto value = layout<pod>::value;
