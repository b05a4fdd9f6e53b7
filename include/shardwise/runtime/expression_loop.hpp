// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/pending_node.hpp"
#include "shardwise/engine/read_part.hpp"
#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/gradient_kernels.hpp"
#include "shardwise/kernel/pointwise_kernel.hpp"
#include "shardwise/kernel/reduction_kernel.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/shared_branch.hpp"
#include "shardwise/kernel/squares_kernel.hpp"
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
                                     const fused::call<F, Children...>& tree);

/// The same for the operands of a call.
template <class T, class F, class... Children>
[[nodiscard]] value_ids describe_children(described_program& to, std::span<const value_id> read,
                                          const fused::call<F, Children...>& tree) {
  value_ids operands;
  operands.push_back(describe_tree<T>(to, read, tree.first));
  if constexpr (sizeof...(Children) > 1)
    operands.push_back(describe_tree<T>(to, read, tree.second));
  if constexpr (sizeof...(Children) > 2) operands.push_back(describe_tree<T>(to, read, tree.third));
  return operands;
}
/// Returns the kernel of a call of `N` operands.
template <class T, class F, std::size_t N>
[[nodiscard]] operation_kernel kernel_of_call() {
  return {.each = uniform_function<F, T, N>(),
          .elements = &element_kernels_of<T>,
          .enter_gradient = gradient_entry<pointwise<F>, T>()};
}

template <class T, class F, class... Children>
[[nodiscard]] value_id describe_tree(described_program& to, std::span<const value_id> read,
                                     const fused::call<F, Children...>& tree) {
  const value_ids operands = describe_children<T>(to, read, tree);
  return to.computed_by(to.code().emit(operation_of<pointwise<F>>, {}, operands),
                        kernel_of_call<T, F, sizeof...(Children)>());
}
/// The same for a whole tree, whose result is known: most consist of one function, and a program
/// that has only such expressions does not contain the rules.
template <class T, class F, class... Children>
[[nodiscard]] value_id describe_tree(described_program& to, std::span<const value_id> read,
                                     const fused::call<F, Children...>& tree,
                                     const tensor_desc& result) {
  const value_ids operands = describe_children<T>(to, read, tree);
  return to.computed_by(to.code().append(operation_of<pointwise<F>>, {}, operands, result),
                        kernel_of_call<T, F, sizeof...(Children)>());
}

}  // namespace detail

/// A fused elementwise pass over `N` tensors that is compiled as a whole. The type of a tree does
/// not tell whether two of its branches are the same: if they are, and computing them once saves
/// expensive functions, the pass is interpreted, with the same bits.
template <class T, class Tree, std::size_t N>
struct pass_loop {
  static void run(pending_node& of, index_t shard);

  static constexpr compiled_loop::functions functions{
      .instructions = Tree::calls,
      .is_pass = true,
      .describe =
          [](described_program& to, std::span<const value_id> read, const pending_node& of) {
            return detail::describe_tree<T>(to, read, of.work().loop.as<Tree>(), of.tensor());
          },
      .cost = [](const pending_node& of) -> operation_cost {
        return {.flops = pass_flops(Tree::flops, of.where().largest_shard_size())};
      },
      .run = &run};
};

template <class T, class Tree, std::size_t N>
void pass_loop<T, Tree, N>::run(pending_node& of, index_t shard) {
  const shard_table& here = of.where();
  const extents_desc extents = here.extents_of_shard(shard);
  const strided<T> out{of.writable_data<T>(shard), extents, row_major(extents)};
  [[maybe_unused]] const auto is_own = [&](const auto* data, const tensor_node& node) {
    return internal::is_within(const_any_block{data, element_of<T>, extents, out.strides},
                               node.shard(shard));
  };
  assert(is_own(out.data, of));
  strided<const T> read[N];
  scratch_vector<std::byte> gathered[N];
  for (std::size_t k = 0; k < N; ++k) {
    const tensor_node& operand = *of.operands()[k];
    // Most operands have the shard table of the result, and look-ups would be expensive for small
    // tensors.
    if (operand.tensor().extents == here.tensor().extents && operand.where().numbers_like(here)) {
      read[k] = {operand.data<T>(shard), out.extents, out.strides};
      assert(is_own(read[k].data, operand));
    } else {
      const index_t device = here.device_of(shard);
      read[k] = internal::broadcast_view(operand, device, here.tensor().extents,
                                         here.held_by(device), gathered[k])
                    .view.template as<const T>();
    }
  }
  const auto apply = [&](const auto& tree) { run_pointwise(tree, read, out); };
  const Tree& tree = of.work().loop.as<Tree>();
  if (!with_shared_branch<N>(tree, of.operands().begin(), apply)) apply(tree);
}

/// A reduction of dimensions by an operation, with a fused pass over `N` tensors, compiled with it,
/// as the prologue.
template <class Class, class T, class Tree, std::size_t N>
struct reduction_loop {
  /// The pass, and the description of its result, which is the operand of the reduction.
  struct prologue {
    Tree tree;
    tensor_desc result;
  };

  static void run(pending_node& of, index_t shard);

  static constexpr compiled_loop::functions functions{
      .instructions = 1 + Tree::calls,
      .is_pass = false,
      .describe =
          [](described_program& to, std::span<const value_id> read, const pending_node& of) {
            const prologue& pass = of.work().loop.as<prologue>();
            const value_id first = detail::describe_tree<T>(to, read, pass.tree, pass.result);
            return to.computed_by(
                to.code().append(operation_of<Class>, of.how(), {first}, of.tensor()),
                {.whole = whole_kernel<Class, T>(),
                 .elements = &of.elements(),
                 .enter_gradient = gradient_entry<Class, T>()},
                of.work().details);
          },
      .cost = [](const pending_node& of) -> operation_cost {
        const mesh_desc& mesh = of.where().mesh();
        const tensor_desc& from = of.work().loop.as<prologue>().result;
        operation_cost cost = operation_of<Class>.cost(mesh, of.how(), {from}, of.tensor());
        cost.flops += Tree::flops * largest_shard_size(mesh, from.layout, from.extents);
        return cost;
      },
      .run = &run};
};

template <class Class, class T, class Tree, std::size_t N>
void reduction_loop<Class, T, Tree, N>::run(pending_node& of, index_t shard) {
  const prologue& first = of.work().loop.as<prologue>();
  const index_t device = of.where().device_of(shard);
  const held_box part =
      held_of(of.where().mesh(), first.result.layout, first.result.extents, device);
  strided<const T> read[N];
  scratch_vector<std::byte> gathered[N];
  for (std::size_t k = 0; k < N; ++k)
    read[k] =
        internal::broadcast_view(*of.operands()[k], device, first.result.extents, part, gathered[k])
            .view.template as<const T>();
  const auto apply = [&](const auto& tree) {
    kernel_of<Class>::template run_tree<T>(of.how(), tree, read, of.writable_block(shard),
                                           extents_of(part));
  };
  if (!with_shared_branch<N>(first.tree, of.operands().begin(), apply)) apply(first.tree);
}

}  // namespace shardwise
