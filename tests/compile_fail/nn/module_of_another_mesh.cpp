// SPDX-License-Identifier: BSL-1.0
// The error is reported by the call that distributes, not deep in the module.
// expect: shardwise::broken_rule<shardwise::violation::operand_meshes_differ,
// expect: shardwise::reshard_to<
#include <shardwise/nn.hpp>
#include <shardwise/shardwise.hpp>

using namespace shardwise;

struct pod : mesh<axis<"data", 2>, axis<"model", 2>> {};
struct other : mesh<axis<"data", 2>, axis<"rows", 2>> {};
template <class Layout>
struct layer {
  sharded_tensor<float, extents<4, 8>, Layout> weight;
};
template <class Layout>
struct block {
  layer<Layout> up, down;
};
struct split : layout<pod, P<"model", none>> {};
struct split_elsewhere : layout<other, P<"rows", none>> {};
void use(const block<split>& model) {
  const auto moved = nn::distribute_module<block<split_elsewhere>>(model);
  const auto again = nn::distribute_module<block<split>>(moved);
}
