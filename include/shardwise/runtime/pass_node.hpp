// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/fold_kernel.hpp"
#include "shardwise/kernel/pass_program.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/read_part.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// Appends a fused tree of functions of `T` to a program, unfused, what is computed first before
/// the rest, and returns the number of its value. `read` are the values of its arguments.
template <class T, std::size_t I>
[[nodiscard]] value_id describe_tree(described_program&, std::span<const value_id> read,
                                     fused::argument<I>) {
  return read[I];
}
template <class T, class U>
[[nodiscard]] value_id describe_tree(described_program& to, std::span<const value_id>,
                                     const fused::constant<U>& leaf) {
  return to.code().constant(leaf.value, element_of<T>);
}
template <class T, class F, class... Children>
[[nodiscard]] value_id describe_tree(described_program& to, std::span<const value_id> read,
                                     const fused::call<F, Children...>& tree) {
  value_ids operands;
  operands.push_back(describe_tree<T>(to, read, tree.first));
  if constexpr (sizeof...(Children) > 1)
    operands.push_back(describe_tree<T>(to, read, tree.second));
  if constexpr (sizeof...(Children) > 2) operands.push_back(describe_tree<T>(to, read, tree.third));
  return to.computed_by(
      to.code().emit(operation_of<pointwise<F>>, {}, operands),
      {.each = uniform_function<F, T, sizeof...(Children)>(), .elements = &element_kernels_of<T>});
}

/// How often a function is called in a fused tree.
template <class F, class Tree>
inline constexpr int calls_of = 0;
template <class F, class G, class... Children>
inline constexpr int calls_of<F, fused::call<G, Children...>> = (std::is_same_v<F, G> ? 1 : 0) +
                                                                (calls_of<F, Children> + ...);

/// True if a function that takes more than a few instructions stands in `Whole` twice: it may be
/// that both give the same.
template <class Whole, class Tree = Whole>
inline constexpr bool may_repeat = false;
template <class Whole, class F, class... Children>
inline constexpr bool may_repeat<Whole, fused::call<F, Children...>> =
    (!ExactFunction<F> && calls_of<F, Whole> > 1) || (may_repeat<Whole, Children> || ...);

/// A fused tree of functions of `T` as an interpreted pass, in which the same function of the same
/// values is computed once.
template <class T>
class shared_pass {
 public:
  /// The slot of a tree whose arguments are the slots `read`.
  template <std::size_t I>
  int add(std::span<const int> read, fused::argument<I>) {
    return read[I];
  }
  template <class U>
  int add(std::span<const int>, const fused::constant<U>& leaf) {
    return pass.number(static_cast<T>(leaf.value));
  }
  template <class F, class... Children>
  int add(std::span<const int> read, const fused::call<F, Children...>& tree) {
    constexpr std::size_t count = sizeof...(Children);
    int slots[count]{add(read, tree.first)};
    if constexpr (count > 1) slots[1] = add(read, tree.second);
    if constexpr (count > 2) slots[2] = add(read, tree.third);
    constexpr block_function function = uniform_function<F, T, count>();
    const int calls = pass.calls(function);
    const int slot = pass.apply(function, slots, element_of<T>);
    saves = saves || (!ExactFunction<F> && pass.calls(function) == calls);
    return slot;
  }

  pass_program pass;
  /// True if it computes a function that is no arithmetic less often than the tree does.
  bool saves = false;
};

}  // namespace detail

/// A fused elementwise pass over `N` tensors that is compiled as a whole. A tree cannot say that
/// two of its branches are the same: where they are, and it saves what takes long, the pass is
/// interpreted, with the same bits.
template <class T, class Tree, std::size_t N>
class pass_node : public pending_node {
 public:
  pass_node(std::shared_ptr<machine> home, placement_ptr where, const element_kernels& elements,
            std::uint64_t sequence, Tree tree)
      : pending_node(std::move(home), std::move(where), elements, sequence), tree_(tree) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    return detail::describe_tree<T>(to, read, tree_);
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return Tree::calls; }
  [[nodiscard]] operation_cost cost() const noexcept override {
    return {.flops = pass_flops(Tree::flops, where().largest_shard_size())};
  }

  void run_shard(index_t shard) override {
    const placement& here = where();
    const extents_desc extents = here.extents_of_shard(shard);
    const strided<T> out{writable_data<T>(shard), extents, row_major(extents)};
    strided<const T> read[N];
    std::vector<std::byte> gathered[N];
    if constexpr (detail::may_repeat<Tree>)
      if (run_shared(shard)) return;
    for (std::size_t k = 0; k < N; ++k) {
      const node& operand = *operands()[k];
      // Most operands are laid out as the result is, and small tensors feel every look-up.
      if (operand.tensor().extents == here.tensor().extents && operand.where().numbers_like(here)) {
        read[k] = {operand.data<T>(shard), out.extents, out.strides};
      } else {
        const index_t device = here.device_of(shard);
        read[k] = detail::broadcast_view(operand, device, here.tensor().extents,
                                         here.held_by(device), gathered[k])
                      .template as<const T>();
      }
    }
    run_pointwise(tree_, read, out);
  }

 private:
  /// Interprets the pass if branches of it are the same and that saves anything; returns false if
  /// not.
  bool run_shared(index_t shard) {
    detail::shared_pass<T> shared;
    const node* inputs[N];
    std::size_t count = 0;
    int slots[N];
    for (std::size_t k = 0; k < N; ++k) {
      const node* const operand = operands()[k].get();
      const auto at = static_cast<std::size_t>(std::find(inputs, inputs + count, operand) - inputs);
      if (at == count) inputs[count++] = operand;
      slots[k] = static_cast<int>(at);
    }
    if (count == N) return false;
    for (std::size_t k = 0; k < count; ++k) (void)shared.pass.read(elements());
    (void)shared.add(slots, tree_);
    if (!shared.saves) return false;
    shared.pass.write(elements());
    const any_block out = writable_block(shard);
    const_any_block views[N];
    std::vector<std::byte> gathered[N];
    for (std::size_t k = 0; k < count; ++k)
      views[k] = detail::operand_view(*inputs[k], where(), shard, out.extents, gathered[k]);
    shared.pass.run({views, count}, out);
    return true;
  }

  Tree tree_;
};

/// Dimensions folded away, with a fused pass over `N` tensors, compiled with it, as the prologue.
template <class T, class Tree, std::size_t N>
class fold_node : public pending_node {
 public:
  /// `folded` describes what is folded: the result of the prologue.
  fold_node(std::shared_ptr<machine> home, placement_ptr where, const element_kernels& elements,
            const attributes& how, const operation_cost& cost, Tree tree, const tensor_desc& folded)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        how_(how),
        cost_(cost),
        tree_(tree),
        folded_(folded) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    const value_id prologue = detail::describe_tree<T>(to, read, tree_);
    return to.computed_by(
        to.code().append(operation_of<fold_operation>, how_, {prologue}, tensor()),
        {.whole = &kernel_of<fold_operation>::run<T>, .elements = &elements()});
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1 + Tree::calls; }
  [[nodiscard]] operation_cost cost() const noexcept override { return cost_; }

  void run_shard(index_t shard) override {
    const index_t device = where().device_of(shard);
    const held_box part = held_of(where().mesh(), folded_.layout, folded_.extents, device);
    strided<const T> read[N];
    std::vector<std::byte> gathered[N];
    for (std::size_t k = 0; k < N; ++k)
      read[k] = detail::broadcast_view(*operands()[k], device, folded_.extents, part, gathered[k])
                    .template as<const T>();
    const unsigned reduced = fold_operation::reduced(how_);
    run_reduce(how_.kind, tree_, read,
               detail::unfolded(writable_block(shard).template as<T>(), extents_of(part), reduced),
               static_cast<std::uint8_t>(reduced));
  }

 private:
  attributes how_;
  operation_cost cost_;
  Tree tree_;
  tensor_desc folded_;
};

}  // namespace shardwise
