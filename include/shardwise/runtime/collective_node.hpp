// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/runtime/collective_run.hpp"
#include "shardwise/runtime/computation.hpp"

#include <memory>
#include <span>
#include <utility>

namespace shardwise {

/// One collective: the devices of a group read what they need from each other's shards.
class collective_node : public pending_node {
 public:
  collective_node(std::shared_ptr<machine> home, placement_ptr where,
                  const element_kernels& elements, const applied_operation& does,
                  const operation_cost& cost)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        does_(does),
        cost_(cost) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    return to.code().append(*does_.what, does_.how, {read[0]}, tensor());
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1; }
  [[nodiscard]] operation_cost cost() const noexcept override { return cost_; }

  void run_shard(index_t shard) override {
    detail::collective_run(does_, *operands()[0], *this).run_shard(shard);
  }

 private:
  applied_operation does_;
  operation_cost cost_;
};

/// The node of one collective, or of what manual sharding does, which every device does with its
/// own shard or its group's.
[[nodiscard]] inline node_ptr collective_node_of(node_ptr from, const applied_operation& does,
                                                 const tensor_desc& result) {
  const mesh_desc& mesh = from->home()->mesh();
  const operation_cost cost = does.what->cost(mesh, does.how, {from->tensor()}, result);
  const element_kernels& elements = from->elements();
  return make_pending<collective_node>({&from, 1}, result, elements, does, cost);
}

/// The nodes that take a tensor to another layout, one for each collective; the tensor itself if
/// there is nothing to do.
[[nodiscard]] inline node_ptr reshard_node_of(node_ptr from, const layout_desc& target) {
  const mesh_desc& mesh = from->home()->mesh();
  const redistribution way = redistribute(mesh, from->tensor(), target);
  require(way.verdict);
  for (const transfer& moved : way.moves) {
    tensor_desc result = from->tensor();
    result.layout = moved.after;
    const applied_operation does{&operation_of<collective_operation>,
                                 collective_operation::how(from->tensor(), moved)};
    from = collective_node_of(std::move(from), does, result);
  }
  return from;
}

/// The node of a tensor that a rule of manual sharding changes to `result`.
[[nodiscard]] inline node_ptr manual_node_of(node_ptr from, const tensor_desc& result) {
  if (from->tensor() == result) return from;
  return collective_node_of(std::move(from), manual_change(result), result);
}

}  // namespace shardwise
