// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::layout_is_malformed<1, int>
#include <shardwise/layout.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
constexpr auto value = layout<pod, int>::value;
