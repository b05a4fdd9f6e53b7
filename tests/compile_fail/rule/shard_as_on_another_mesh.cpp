// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_meshes_differ,
// expect: shardwise::of_types<shardwise::reshard_to<shardwise::P<shardwise::fixed_string<2>{"x"}>>, pod, cube>, shardwise::operand_at{0}>
// expect: the operands of an operation live on the same mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct cube : mesh<axis<"x", 8>> {};
using A = sharded_tensor<float, extents<8>, layout<pod, P<"x">>>;
using B = sharded_tensor<float, extents<8>, layout<cube, P<"x">>>;
auto use() { return shard_as(abstract<A>(), abstract<B>()); }
