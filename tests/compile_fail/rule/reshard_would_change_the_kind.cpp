// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::reshard_would_create_partial,
// expect: shardwise::partial<shardwise::fixed_string<2>{"y"}, shardwise::reduction::max>, shardwise::called<2>{"y"}>
// expect: a reshard finishes pending reductions and never starts one
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct terms : layout<pod, P<"x">, partial<"y">> {};
struct maxima : layout<pod, P<"x">, partial<"y", reduction::max>> {};
using A = sharded_tensor<float, extents<8>, terms>;
auto use() { return reshard<maxima>(abstract<A>()); }
