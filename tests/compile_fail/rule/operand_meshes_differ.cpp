// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_meshes_differ,
// expect: shardwise::of_types<shardwise::pointwise<shardwise::functions::add>, pod, cube>, shardwise::operand_at{1}>
// expect: the operands of an operation live on the same mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct cube : mesh<axis<"x", 2>, axis<"y", 4>> {};
struct on_pod : layout<pod, P<"x">> {};
struct on_cube : layout<cube, P<"x">> {};
using A = sharded_tensor<float, extents<8>, on_pod>;
using B = sharded_tensor<float, extents<8>, on_cube>;
auto use() { return abstract<A>() + abstract<B>(); }
