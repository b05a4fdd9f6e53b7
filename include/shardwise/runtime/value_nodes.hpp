// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/kernel/kernel_lookup.hpp"
#include "shardwise/runtime/make_nodes.hpp"

#include <array>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// The node of an operand, named where an lvalue was given; `X` has the value category.
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

/// The nodes and the numbers among the operands of an elementwise function, whose numbers are of
/// type `Number`.
template <class Number, class... X>
struct gathered_operands {
  static constexpr std::size_t tensors = (std::size_t{EitherOperand<X>} + ... + 0);
  std::array<node_ptr, tensors> nodes;
  number_operands numbers;

  explicit gathered_operands(X&&... operands) {
    std::size_t next = 0;
    int place = 0;
    const auto take = [&]<class Given>(Given&& x) {
      if constexpr (EitherOperand<Given>)
        nodes[next++] = read_operand<Given>(static_cast<Given&&>(x));
      else
        numbers.push_back(number_at(place, static_cast<Number>(x)));
      ++place;
    };
    (take(static_cast<X&&>(operands)), ...);
    for (const node_ptr& operand : nodes) require_one_pool(nodes[0]->home(), operand);
  }

 private:
  [[nodiscard]] static number_operand number_at(int place, compute_type<Number> value) noexcept {
    number_operand out{place, element_of<Number>};
    std::memcpy(&out.bits, &value, sizeof value);
    return out;
  }
};

/// A pending elementwise function of tensors and numbers that makes elements of `Result`;
/// `describe(nodes, numbers)` is what it makes.
template <class Function, class Result, class Describe, class... X>
[[nodiscard]] node_ptr make_each(const Describe& describe, X&&... operands) {
  using number = typename number_type<Function, X...>::type;
  gathered_operands<number, X...> read(static_cast<X&&>(operands)...);
  const tensor_desc result = describe(read.nodes, read.numbers);
  const operation_kernel kernel =
      function_for<Function, Result, typename element_type_of<number, X>::type...>();
  return make_each_node(read.nodes, result, element_kernels_of<Result>,
                        operation_of<pointwise<Function>>, kernel, read.numbers);
}

/// The same where types say what it makes: `Paper` with these extents.
template <class Function, class Paper, class... X>
[[nodiscard]] node_ptr each_node_of(const extents_desc& extents, X&&... operands) {
  return make_each<Function, typename Paper::value_type>(
      [&](const auto&, const auto&) { return desc_of<Paper>(extents); },
      static_cast<X&&>(operands)...);
}

/// A pending operation that is not elementwise on tensors of `First` and others; `Class` is that of
/// the operation.
template <class Class, class First, std::size_t N>
[[nodiscard]] node_ptr make_whole(const attributes& how, const factor_rule& rule,
                                  const propagation& split, const element_kernels& elements,
                                  std::array<node_ptr, N> read) {
  return make_whole_node(read, {&operation_of<Class>, how}, rule, split, elements,
                         &whole_for<Class, First>);
}

/// The same of an operation as types have it: by the rule that these say, whose factors `split`
/// has, and not by one that knows the sizes.
template <class Operation, class First, class... Rest>
[[nodiscard]] node_ptr whole_node_of(const propagation& split, const element_kernels& elements,
                                     std::array<node_ptr, 1 + sizeof...(Rest)> read) {
  using result = result_of<Operation, paper_of<First>, paper_of<Rest>...>;
  propagation made = split;
  made.result.type = elements.type;
  return make_whole<typename Operation::operation_class,
                    typename std::remove_cvref_t<First>::value_type>(
      Operation::how, result::rule, made, elements, std::move(read));
}

}  // namespace shardwise::detail
