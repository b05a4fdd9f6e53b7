// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/fused.hpp"
#include "shardwise/kernel/kernel_lookup.hpp"
#include "shardwise/kernel/pass_order.hpp"
#include "shardwise/runtime/make_nodes.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace shardwise {

class described_program;

namespace detail {

/// A fused tree as values: the functions and numbers that it is made of, what is computed first
/// before the rest. Programs that link the compiled library, which has its functions, run their
/// expressions from it, so that an expression costs the compiler a list and no code.
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
  [[nodiscard]] value_id describe(described_program& to, std::span<const value_id> read) const;

  /// Computes a block from blocks of its arguments.
  void run(std::span<const const_any_block> read, const any_block& out) const;

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

  [[nodiscard]] int enter(const part& made);

  const element_kernels* elements_;
  int reads_;
  std::vector<part> parts_;
};

/// A pending fused pass that runs through block functions; its result costs `flops` an element.
[[nodiscard]] node_ptr make_described_pass(std::span<node_ptr> operands, const tensor_desc& result,
                                           const element_kernels& elements, std::uint64_t sequence,
                                           tree_description tree, index_t flops);

/// A pending fold by `kernel`, whose prologue is such a pass, which makes what `folded` describes.
[[nodiscard]] node_ptr make_described_fold(std::span<node_ptr> operands, const tensor_desc& result,
                                           const element_kernels& elements, const attributes& how,
                                           const operation_cost& cost, tree_description tree,
                                           structured_kernel kernel, const tensor_desc& folded);

}  // namespace detail
}  // namespace shardwise
