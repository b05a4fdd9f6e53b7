// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/read_part.hpp"
#include "shardwise/runtime/tree_description.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

/// A fused elementwise pass that runs through block functions.
class described_pass : public pending_node {
 public:
  described_pass(std::shared_ptr<machine> home, placement_ptr where,
                 const element_kernels& elements, std::uint64_t sequence,
                 detail::tree_description tree, index_t flops)
      : pending_node(std::move(home), std::move(where), elements, sequence),
        tree_(std::move(tree)),
        flops_(flops) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    return tree_.describe(to, read);
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return tree_.size(); }
  [[nodiscard]] bool is_pass() const noexcept override { return true; }
  [[nodiscard]] operation_cost cost() const noexcept override {
    return {.flops = pass_flops(flops_, where().largest_shard_size())};
  }

  void run_shard(index_t shard) override {
    const any_block out = writable_block(shard);
    const_any_block read[max_fused_operands];
    scratch_vector<std::byte> gathered[max_fused_operands];
    for (std::size_t k = 0; k < operands().size(); ++k)
      read[k] = detail::operand_view(*operands()[k], where(), shard, out.extents, gathered[k]);
    tree_.run({read, operands().size()}, out);
  }

 private:
  detail::tree_description tree_;
  index_t flops_;
};

/// Dimensions reduced away, with a pass that runs through block functions as the prologue.
class described_fold : public pending_node {
 public:
  /// `folded` describes what is folded: the result of the prologue.
  described_fold(std::shared_ptr<machine> home, placement_ptr where,
                 const element_kernels& elements, const attributes& how, const operation_cost& cost,
                 detail::tree_description tree, structured_kernel kernel, const tensor_desc& folded)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        how_(how),
        cost_(cost),
        tree_(std::move(tree)),
        kernel_(kernel),
        folded_(folded) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    const value_id prologue = tree_.describe(to, read);
    return to.computed_by(
        to.code().append(operation_of<fold_operation>, how_, {prologue}, tensor()),
        {.whole = kernel_, .elements = &elements()});
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1 + tree_.size(); }
  [[nodiscard]] operation_cost cost() const noexcept override { return cost_; }

  void run_shard(index_t shard) override {
    const index_t device = where().device_of(shard);
    const held_box part = held_of(where().mesh(), folded_.layout, folded_.extents, device);
    const extents_desc extents = extents_of(part);
    const_any_block read[max_fused_operands];
    scratch_vector<std::byte> gathered[max_fused_operands];
    for (std::size_t k = 0; k < operands().size(); ++k)
      read[k] = detail::broadcast_view(*operands()[k], device, folded_.extents, part, gathered[k]);
    scratch_vector<std::byte> memory(
        static_cast<std::size_t>(element_count(extents) * size_of(folded_.type)));
    const any_block made{memory.data(), folded_.type, extents, row_major(extents)};
    tree_.run({read, operands().size()}, made);
    const const_any_block operand{made.data, made.type, made.extents, made.strides};
    const any_block out = writable_block(shard);
    // The kernel of a fold reads no rule and no sizes: its attributes say what is folded.
    kernel_({how_, {}, {&operand, 1}, {&part, 1}, {&out, 1}, {}, {}});
  }

 private:
  attributes how_;
  operation_cost cost_;
  detail::tree_description tree_;
  structured_kernel kernel_;
  tensor_desc folded_;
};

}  // namespace shardwise
