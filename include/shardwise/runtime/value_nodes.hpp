// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/engine/make_nodes.hpp"
#include "shardwise/expression/elementwise.hpp"
#include "shardwise/kernel/kernel_lookup.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Returns the node of an operand, which is named if it is an lvalue; `X` has the value category.
template <class X>
[[nodiscard]] node_ptr read_operand(std::type_identity_t<X>&& x) {
  if constexpr (std::is_lvalue_reference_v<X>) {
    node_ptr read = x.share();
    read->name();
    return read;
  } else {
    return std::move(x).share();
  }
}

/// An operand of an elementwise function: a node, or a number.
struct each_operand {
  node_ptr node;
  number_operand number{};

  each_operand(node_ptr read) noexcept : node(std::move(read)) {}
  explicit each_operand(const number_operand& beside) noexcept : number(beside) {}
  each_operand(each_operand&&) noexcept = default;
  each_operand& operator=(each_operand&&) = delete;
  // Not inlined, since every operator of a program destroys some.
  [[gnu::noinline]] ~each_operand() {}
};
/// Returns an operand whose numbers are of type `Number`; `X` has the value category.
template <class Number, class X>
[[nodiscard, gnu::noinline]] each_operand each_operand_of(std::type_identity_t<X>&& x) {
  if constexpr (EitherOperand<X>) {
    return read_operand<X>(static_cast<X&&>(x));
  } else {
    using computed = compute_type<Number>;
    const auto value = static_cast<computed>(static_cast<Number>(static_cast<computed>(x)));
    number_operand beside{0, element_of<Number>};
    std::memcpy(&beside.bits, &value, sizeof value);
    return each_operand(beside);
  }
}

/// Creates the node of an elementwise function. Compiled once for each number of operands, since
/// the information in their types has become values.
template <std::size_t N, class Describe>
[[nodiscard]] node_ptr make_each_of(std::array<each_operand, N>&& operands,
                                    const Describe& describe, const element_kernels& elements,
                                    const operation& what, const operation_kernel& kernel) {
  std::array<node_ptr, N> nodes;
  number_operands numbers;
  std::size_t read = 0;
  for (std::size_t place = 0; place < N; ++place) {
    each_operand& each = operands[place];
    if (each.node != nullptr) {
      require_one_pool(read == 0 ? each.node->home() : nodes[0]->home(), each.node);
      nodes[read++] = std::move(each.node);
    } else {
      each.number.place = static_cast<int>(place);
      numbers.push_back(each.number);
    }
  }
  const std::span<node_ptr> given(nodes.data(), read);
  return make_each_node(given, describe(given, numbers), elements, what, kernel, numbers);
}

/// Creates a pending elementwise function of tensors and numbers whose result has elements of type
/// `Result`; `describe(nodes, numbers)` returns its description.
template <class Function, class Result, class Describe, class... X>
[[nodiscard]] node_ptr make_each(const Describe& describe, X&&... operands) {
  using number = typename number_type<Function, X...>::type;
  return make_each_of<sizeof...(X)>(
      {each_operand_of<number, X>(static_cast<X&&>(operands))...}, describe,
      element_kernels_of<Result>, operation_of<pointwise<Function>>,
      function_for<Function, Result, typename element_type_of<number, X>::type...>());
}

/// The description of a function's result by types.
struct described_result {
  tensor_desc is;
  const tensor_desc& operator()(std::span<const node_ptr>, const number_operands&) const noexcept {
    return is;
  }
};
/// The same if types determine the result: `Paper` with these extents.
template <class Function, class Paper, class... X>
[[nodiscard]] node_ptr each_node_of(const extents_desc& extents, X&&... operands) {
  return make_each<Function, typename Paper::value_type>(described_result{desc_of<Paper>(extents)},
                                                         static_cast<X&&>(operands)...);
}

/// Creates a pending operation that is not elementwise, on tensors of type `First` and others;
/// `Class` is that of the operation.
template <class Class, class First, std::size_t N>
[[nodiscard]] node_ptr make_whole(const attributes& how, const factor_rule& rule,
                                  const propagation& split, const element_kernels& elements,
                                  std::array<node_ptr, N> read) {
  return make_whole_node(read, {&operation_of<Class>, how}, rule, split, elements,
                         &whole_for<Class, First>);
}

/// The same for an operation whose attributes are types: with the rule that the types determine,
/// whose factors are in `split`, and not one computed from run-time sizes.
template <class Operation, class First, class... Rest>
[[nodiscard]] node_ptr whole_node_of(const propagation& split, const element_kernels& elements,
                                     std::array<node_ptr, 1 + sizeof...(Rest)> read) {
  using result = result_of<Operation, paper_of<First>, paper_of<Rest>...>;
  propagation made = split;
  made.result.type = elements.type;
  return make_whole<typename Operation::operation_class,
                    typename std::remove_cvref_t<First>::value_type>(
      attributes_for<Operation>(paper_of<First>::extents_type::rank), result::rule, made, elements,
      std::move(read));
}

}  // namespace shardwise::detail
