// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduction_kernel.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/shared_branch.hpp"
#include "shardwise/kernel/squares_kernel.hpp"
#include "shardwise/runtime/computation.hpp"
#include "shardwise/runtime/read_part.hpp"
#include "shardwise/tensor/block_bounds.hpp"

#include <cassert>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// Appends a fused tree of functions of `T` to a program, unfused and in the order of evaluation,
/// and returns the number of its value. `read` are the values of its arguments.
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
  return to.computed_by(to.code().emit(operation_of<pointwise<F>>, {}, operands),
                        {.each = uniform_function<F, T, sizeof...(Children)>(),
                         .elements = &element_kernels_of<T>,
                         .enter_gradient = gradient_entry<pointwise<F>, T>()});
}

}  // namespace detail

/// A fused elementwise pass over `N` tensors that is compiled as a whole. The type of a tree does
/// not tell whether two of its branches are the same: if they are, and computing them once saves
/// expensive functions, the pass is interpreted, with the same bits.
template <class T, class Tree, std::size_t N>
class pass_node : public pending_node {
 public:
  pass_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
            const element_kernels& elements, std::uint64_t sequence, Tree tree)
      : pending_node(std::move(home), std::move(where), elements, sequence), tree_(tree) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    return detail::describe_tree<T>(to, read, tree_);
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return Tree::calls; }
  [[nodiscard]] bool is_pass() const noexcept override { return true; }
  [[nodiscard]] operation_cost cost() const noexcept override {
    return {.flops = pass_flops(Tree::flops, where().largest_shard_size())};
  }

  void run_shard(index_t shard) override {
    const shard_table& here = where();
    const extents_desc extents = here.extents_of_shard(shard);
    const strided<T> out{writable_data<T>(shard), extents, row_major(extents)};
    [[maybe_unused]] const auto is_own = [&](const auto* data, const tensor_node& node) {
      return internal::is_within(const_any_block{data, element_of<T>, extents, out.strides},
                                 node.shard(shard));
    };
    assert(is_own(out.data, *this));
    strided<const T> read[N];
    scratch_vector<std::byte> gathered[N];
    for (std::size_t k = 0; k < N; ++k) {
      const tensor_node& operand = *operands()[k];
      // Most operands have the shard table of the result, and look-ups would be expensive for small
      // tensors.
      if (operand.tensor().extents == here.tensor().extents && operand.where().numbers_like(here)) {
        read[k] = {operand.data<T>(shard), out.extents, out.strides};
        assert(is_own(read[k].data, operand));
      } else {
        const index_t device = here.device_of(shard);
        read[k] = detail::broadcast_view(operand, device, here.tensor().extents,
                                         here.held_by(device), gathered[k])
                      .view.template as<const T>();
      }
    }
    const auto run = [&](const auto& tree) { run_pointwise(tree, read, out); };
    if (!with_shared_branch<N>(tree_, operands().begin(), run)) run(tree_);
  }

 private:
  Tree tree_;
};

/// A reduction of dimensions by an operation, with a fused pass over `N` tensors, compiled with it,
/// as the prologue.
template <class Class, class T, class Tree, std::size_t N>
class reduction_node : public pending_node {
 public:
  /// `from` describes the operand of the reduction: the result of the prologue.
  reduction_node(std::shared_ptr<pool_state> home, shard_table_ptr where,
                 const element_kernels& elements, const attributes& how, const operation_cost& cost,
                 Tree tree, const tensor_desc& from)
      : pending_node(std::move(home), std::move(where), elements, next_sequence()),
        how_(how),
        cost_(cost),
        tree_(tree),
        from_(from) {}

  [[nodiscard]] value_id describe(described_program& to,
                                  std::span<const value_id> read) const override {
    const value_id prologue = detail::describe_tree<T>(to, read, tree_);
    return to.computed_by(to.code().append(operation_of<Class>, how_, {prologue}, tensor()),
                          {.whole = whole_kernel<Class, T>(),
                           .elements = &elements(),
                           .enter_gradient = gradient_entry<Class, T>()});
  }
  [[nodiscard]] std::int32_t instructions() const noexcept override { return 1 + Tree::calls; }
  [[nodiscard]] operation_cost cost() const noexcept override { return cost_; }

  void run_shard(index_t shard) override {
    const index_t device = where().device_of(shard);
    const held_box part = held_of(where().mesh(), from_.layout, from_.extents, device);
    strided<const T> read[N];
    scratch_vector<std::byte> gathered[N];
    for (std::size_t k = 0; k < N; ++k)
      read[k] = detail::broadcast_view(*operands()[k], device, from_.extents, part, gathered[k])
                    .view.template as<const T>();
    const auto run = [&](const auto& tree) {
      kernel_of<Class>::template run_tree<T>(how_, tree, read, writable_block(shard),
                                             extents_of(part));
    };
    if (!with_shared_branch<N>(tree_, operands().begin(), run)) run(tree_);
  }

 private:
  attributes how_;
  operation_cost cost_;
  Tree tree_;
  tensor_desc from_;
};

}  // namespace shardwise
