// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/pass_program.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/number_operand.hpp"
#include "shardwise/runtime/read_part.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// Adds a number to a pass, in the type used for arithmetic on its elements.
inline int number_slot(pass_program& pass, const attributes& value, element type) {
  return with_number(value, type, [&](auto number) { return pass.number(number); });
}

}  // namespace detail

/// A pending node of one elementwise operation, applied to tensors and numbers.
class each_node : public pending_node {
 public:
  each_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
            const element_kernels& elements, const operation& what, block_function function,
            const number_operands& numbers, void (*enter_gradient)() = nullptr)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        what_(what),
        function_(function),
        numbers_(numbers),
        enter_gradient_(enter_gradient) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    value_ids all;
    std::size_t next = 0;
    for (std::size_t k = 0; k < count(); ++k)
      if (const number_operand* value = number_at(k))
        all.push_back(to.code().append(operation_of<constant_operation>, value->how(), {},
                                       {value->type, {}, {}}));
      else
        all.push_back(read[next++]);
    return to.computed_by(
        to.code().append(what_, {}, all, tensor()),
        {.each = function_, .elements = &elements(), .enter_gradient = enter_gradient_});
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1 + numbers_.ssize(); }
  [[nodiscard]] bool is_pass() const noexcept override { return true; }
  [[nodiscard]] operation_cost cost() const noexcept override {
    const index_t each = what_.cost(where().mesh(), {}, {}, tensor()).flops;
    return {.flops = pass_flops(each, where().largest_shard_size())};
  }

  void run_shard(index_t shard) override {
    if (is_in_place())
      run_in_place(shard);
    else
      run_pass(shard);
  }

 private:
  [[nodiscard]] std::size_t count() const noexcept { return operands().size() + numbers_.size(); }
  [[nodiscard]] const number_operand* number_at(std::size_t place) const noexcept {
    for (const number_operand& value : numbers_)
      if (value.place == static_cast<int>(place)) return &value;
    return nullptr;
  }

  /// Returns true if all tensors have the shard table of the result and elements that need no
  /// conversion: then one call suffices.
  [[nodiscard]] bool is_in_place() const noexcept {
    const auto is_computed = [](element type) { return type == computed_in(type); };
    if (!is_computed(tensor().type)) return false;
    for (const node_ptr& operand : operands())
      if (operand->tensor().extents != tensor().extents ||
          !operand->where().numbers_like(where()) || !is_computed(operand->tensor().type))
        return false;
    return true;
  }
  void run_in_place(index_t shard) {
    alignas(64) std::byte numbers[max_operands][most_in_step * sizeof(std::uint64_t)];
    const void* from[max_operands];
    index_t moves[max_operands];
    std::size_t next = 0;
    for (std::size_t k = 0; k < count(); ++k) {
      const number_operand* const value = number_at(k);
      if (value != nullptr) fill_step(numbers[k], &value->bits, size_of(computed_in(value->type)));
      from[k] = value != nullptr ? numbers[k] : operands()[next++]->shard(shard).data();
      moves[k] = value != nullptr ? 0 : 1;
    }
    function_.run(from, moves, writable_data<std::byte>(shard), where().size_of_shard(shard));
  }

  void run_pass(index_t shard) {
    pass_program pass;
    int slots[max_operands]{};
    std::size_t next = 0;
    for (std::size_t k = 0; k < count(); ++k) {
      const number_operand* const value = number_at(k);
      slots[k] = value != nullptr ? detail::number_slot(pass, value->how(), value->type)
                                  : pass.read(operands()[next++]->elements());
    }
    (void)pass.apply(function_, {slots, count()}, tensor().type);
    pass.write(elements());
    const any_block out = writable_block(shard);
    const_any_block views[max_operands];
    scratch_vector<std::byte> gathered[max_operands];
    for (std::size_t k = 0; k < next; ++k)
      views[k] =
          detail::operand_view(*operands()[k], where(), shard, out.extents, gathered[k]).view;
    pass.run({views, next}, out);
  }

  const operation& what_;
  block_function function_;
  number_operands numbers_;
  void (*enter_gradient_)();
};

}  // namespace shardwise
