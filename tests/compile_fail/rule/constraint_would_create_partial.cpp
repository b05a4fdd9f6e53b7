// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::reshard_would_create_partial,
// expect: shardwise::partial<shardwise::fixed_string<2>{"y"}
// expect: shardwise::called<2>{"y"}>
// expect: a reshard finishes pending reductions and never starts one
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct rows : layout<pod, P<"x">> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
using A = sharded_tensor<float, extents<8>, rows>;
auto use() { return constrain<terms>(abstract<A>()); }
