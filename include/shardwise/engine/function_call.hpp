// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/number_operand.hpp"
#include "shardwise/engine/pending_node.hpp"
#include "shardwise/kernel/pass_program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardwise::internal {

/// Adds a number to a pass, in the type used for arithmetic on its elements.
inline int number_slot(pass_program& pass, const attributes& value, element type) {
  return with_number(value, type, [&](auto number) { return pass.number(number); });
}

}  // namespace shardwise::internal

namespace shardwise::internal {

/// One elementwise function of numbers and of tensors whose elements are where those of the result
/// are: then a single call computes a shard.
class function_call {
 public:
  /// Returns true if a tensor can be read in place for a result: both have the same shards, and
  /// elements of the type used for arithmetic.
  [[nodiscard]] static bool is_in_place(const tensor_node& operand,
                                        const tensor_node& result) noexcept {
    return operand.tensor().extents == result.tensor().extents &&
           operand.where().numbers_like(result.where()) && is_computed(operand.tensor().type);
  }
  /// Returns true if elements of this type are not converted for arithmetic.
  [[nodiscard]] static bool is_computed(element type) noexcept { return type == computed_in(type); }

  /// Returns the call of a node whose operands are computed, while it has them, if it can read all
  /// of them in place.
  [[nodiscard]] static std::optional<function_call> of(const pending_node& node) noexcept {
    const node_work& work = node.work();
    if (work.loop || !work.what->is_elementwise || !is_computed(node.tensor().type)) return {};
    for (const node_ptr& operand : node.operands())
      if (!is_in_place(*operand, node)) return {};
    std::optional<function_call> call(work.kernel.each);
    for_each_operand(
        work.numbers, node.operands().size(), [&](const number_operand& each) { call->add(each); },
        [&](std::size_t k) { call->add(node.operands()[static_cast<int>(k)]); });
    return call;
  }

  explicit function_call(const block_function& function) noexcept : function_(function) {}

  /// Adds the next operand: the node in a slot, which may change between runs.
  void add(const node_ptr& slot) noexcept { operands_.push_back({&slot, 0, 0}); }
  void add(const number_operand& value) noexcept {
    operands_.push_back({nullptr, size_of(computed_in(value.type)), value.bits});
  }

  /// Computes one distinct shard of the result.
  void run_shard(tensor_node& result, index_t shard) const {
    alignas(64) std::byte numbers[max_operands][most_in_step * sizeof(std::uint64_t)];
    const void* from[max_operands];
    index_t moves[max_operands];
    std::size_t k = 0;
    for (const operand& each : operands_) {
      if (each.slot == nullptr) fill_step(numbers[k], &each.bits, each.size);
      from[k] = each.slot == nullptr ? numbers[k] : (*each.slot)->shard(shard).data();
      moves[k++] = each.slot == nullptr ? 0 : 1;
    }
    function_.run(from, moves, result.writable_data<std::byte>(shard),
                  result.where().size_of_shard(shard));
  }

 private:
  struct operand {
    const node_ptr* slot;
    index_t size;
    std::uint64_t bits;
  };

  block_function function_;
  inplace_vector<operand, max_operands> operands_;
};

}  // namespace shardwise::internal
