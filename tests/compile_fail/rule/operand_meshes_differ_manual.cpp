// SPDX-License-Identifier: BSL-1.0
// expect: shardwise::broken_rule<shardwise::violation::operand_meshes_differ,
// expect: shardwise::of_types<shardwise::detail::leaving, pod, cube>, shardwise::operand_at{0}>
// expect: the operands of an operation live on the same mesh
#include <shardwise/paper.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 4>> {};
struct cube : mesh<axis<"x", 8>> {};
using X = sharded_tensor<float, extents<1024, 4096>, layout<pod, P<"data", "model">>>;
auto use() {
  return disable_manual_sharding<layout<cube, P<"x", none>>>(enable_manual_sharding(abstract<X>()));
}
