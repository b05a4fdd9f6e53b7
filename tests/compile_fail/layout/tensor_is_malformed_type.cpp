// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::misuse::tensor_is_malformed,
// expect: float>
// expect: a sharded_tensor has an element type, extents<...> and a layout, in this order
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
constexpr auto a = abstract<float>();
