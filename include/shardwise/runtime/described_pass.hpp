// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/kernel_lookup.hpp"
#include "shardwise/operation/fold.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/each_node.hpp"
#include "shardwise/runtime/read_part.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// A fused tree as values: the functions and numbers that it is made of, what is computed first
/// before the rest. Programs that link the compiled library run their expressions from it, so that
/// an expression costs the compiler a list and no code.
class tree_description {
 public:
  /// A function, or where `what` is null a number.
  struct part {
    const operation* what = nullptr;
    operation_kernel kernel{};
    inplace_vector<int, pass_order::most_operands> operands{};
    attributes number{};
  };

  /// The list of a tree of functions of `T` that reads `reads` tensors.
  template <class T, class Tree>
  [[nodiscard]] static tree_description of(const Tree& tree, int reads) {
    tree_description made(element_kernels_of<T>, reads);
    (void)made.template add<T>(tree);
    return made;
  }

  [[nodiscard]] const element_kernels& elements() const noexcept { return *elements_; }
  /// How many instructions describe it.
  [[nodiscard]] std::int32_t size() const noexcept {
    return static_cast<std::int32_t>(parts_.size());
  }

  /// Appends it to a program and returns the number of its value. `read` are the values of its
  /// arguments.
  [[nodiscard]] value_id describe(described_program& to, std::span<const value_id> read) const {
    std::vector<value_id> values(read.begin(), read.end());
    for (const part& next : parts_) {
      if (next.what == nullptr) {
        values.push_back(to.code().append(operation_of<constant_operation>, next.number, {},
                                          {elements_->type, {}, {}}));
        continue;
      }
      value_ids operands;
      for (int o : next.operands) operands.push_back(values[static_cast<std::size_t>(o)]);
      values.push_back(to.computed_by(to.code().emit(*next.what, {}, operands), next.kernel));
    }
    return values.back();
  }

  /// Computes a block from blocks of its arguments.
  void run(std::span<const const_any_block> read, const any_block& out) const {
    pass_program pass;
    std::vector<int> slots;
    for (int k = 0; k < reads_; ++k) slots.push_back(pass.read(*elements_));
    for (const part& next : parts_) {
      if (next.what == nullptr) {
        slots.push_back(number_slot(pass, next.number, elements_->type));
        continue;
      }
      int operands[pass_order::most_operands];
      std::size_t count = 0;
      for (int o : next.operands) operands[count++] = slots[static_cast<std::size_t>(o)];
      slots.push_back(pass.apply(next.kernel.each, {operands, count}, elements_->type));
    }
    pass.write(*elements_);
    pass.run(read, out);
  }

 private:
  tree_description(const element_kernels& elements, int reads) noexcept
      : elements_(&elements), reads_(reads) {}

  template <class T, std::size_t I>
  [[nodiscard]] int add(fused::argument<I>) {
    return static_cast<int>(I);
  }
  template <class T, class U>
  [[nodiscard]] int add(const fused::constant<U>& leaf) {
    return enter({nullptr, {}, {}, constant_operation::how(leaf.value)});
  }
  template <class T, class F, class... Children>
  [[nodiscard]] int add(const fused::call<F, Children...>& tree) {
    part made{&operation_of<pointwise<F>>, function_for<F, T, first_of<T, Children>...>(), {}, {}};
    made.operands.push_back(add<T>(tree.first));
    if constexpr (sizeof...(Children) > 1) made.operands.push_back(add<T>(tree.second));
    if constexpr (sizeof...(Children) > 2) made.operands.push_back(add<T>(tree.third));
    return enter(made);
  }
  template <class T, class>
  using first_of = T;

  [[nodiscard]] int enter(const part& made) {
    parts_.push_back(made);
    return reads_ + static_cast<int>(parts_.size()) - 1;
  }

  const element_kernels* elements_;
  int reads_;
  std::vector<part> parts_;
};

}  // namespace detail

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
    std::vector<std::byte> gathered[max_fused_operands];
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
    std::vector<std::byte> gathered[max_fused_operands];
    for (std::size_t k = 0; k < operands().size(); ++k)
      read[k] = detail::broadcast_view(*operands()[k], device, folded_.extents, part, gathered[k]);
    std::vector<std::byte> memory(
        static_cast<std::size_t>(element_count(extents) * size_of(folded_.type)));
    const any_block made{memory.data(), folded_.type, extents, row_major(extents)};
    tree_.run({read, operands().size()}, made);
    const const_any_block operand{made.data, made.type, made.extents, made.strides};
    const any_block out = writable_block(shard);
    // The kernel of a reduction reads no rule and no sizes: its attributes say what is reduced.
    kernel_({how_, {}, {&operand, 1}, {&part, 1}, {&out, 1}, {}});
  }

 private:
  attributes how_;
  operation_cost cost_;
  detail::tree_description tree_;
  structured_kernel kernel_;
  tensor_desc folded_;
};

}  // namespace shardwise
