// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/growable.hpp"
#include "shardwise/engine/pool_state.hpp"
#include "shardwise/plan/cluster.hpp"
#include "shardwise/tensor/block_bounds.hpp"
#include "shardwise/tensor/node.hpp"
#include "shardwise/tensor/shared_blocks.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace shardwise::internal {

/// Returns the memory of the shard of an operand that a device holds.
[[nodiscard]] inline const shard_buffer<std::byte>& memory_held_by(const tensor_node& operand,
                                                                   index_t device) noexcept {
  return operand.shard(operand.where().shard_of(device));
}
class viewed_operand;
[[nodiscard]] const shard_buffer<std::byte>& memory_held_by(const viewed_operand& operand,
                                                            index_t device) noexcept;

/// An operand of a step: the tensor in a slot, or views of it, which is read in place.
class viewed_operand {
 public:
  /// The tensor in a slot.
  explicit viewed_operand(const node_ptr& slot) noexcept : slot_(&slot) {}
  /// `slot` has the node of the value that the step reads for operand `value` of a program.
  viewed_operand(const program_view& code, const cluster_note* notes, value_id value,
                 const node_ptr& slot)
      : slot_(&slot) {
    for (; notes[value].is_read_through; value = code.code[value].operands[0])
      views_.push_back({&code.what(value), code.how(value),
                        code.what(value).rule(code.how(value), code.operands(value)),
                        read().home()->place(code.values[value])});
    std::reverse(views_.begin(), views_.end());
  }

  /// Returns the tensor in which the elements are.
  [[nodiscard]] const tensor_node& read() const noexcept { return **slot_; }
  [[nodiscard]] const node_ptr& slot() const noexcept { return *slot_; }
  [[nodiscard]] bool is_view() const noexcept { return !views_.empty(); }

  /// Returns the description of the operand, and where its parts are.
  [[nodiscard]] const shard_table& where() const noexcept {
    return views_.empty() ? read().where() : *views_.back().where;
  }
  [[nodiscard]] const tensor_desc& tensor() const noexcept { return where().tensor(); }
  [[nodiscard]] const element_kernels& elements() const noexcept { return read().elements(); }

  /// Returns everything that a device holds of the operand, and the part `want` of it.
  [[nodiscard]] const_any_block held_by(index_t device) const noexcept {
    const_any_block block = read().held_by(device);
    for (const view& next : views_) {
      const strided_elements made =
          next.what->view(next.how, next.rule, {0, block.extents, block.strides},
                          extents_of(next.where->box_of(device)));
      advance(block, made.offset);
      block.extents = made.extents;
      block.strides = made.strides;
      assert(is_within(block, memory_held_by(*this, device)));
    }
    return block;
  }
  [[nodiscard]] const_any_block part_held_by(index_t device, const index_box& want) const noexcept {
    const const_any_block part = part_of_block(held_by(device), where().box_of(device), want);
    assert(is_within(part, memory_held_by(*this, device)));
    return part;
  }

 private:
  /// A view of the one before it, or of the tensor: each device has all elements of its block.
  struct view {
    const operation* what;
    attributes how;
    factor_rule rule;
    shard_table_ptr where;
  };

  const node_ptr* slot_;
  growable<view> views_;
};

[[nodiscard]] inline const shard_buffer<std::byte>& memory_held_by(const viewed_operand& operand,
                                                                   index_t device) noexcept {
  return memory_held_by(operand.read(), device);
}

}  // namespace shardwise::internal
