// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"

namespace shardwise {

/// An operation without attributes, as a type.
template <class Class>
struct without_attributes {
  using operation_class = Class;
  static constexpr attributes how{};
};

namespace internal {

/// Checks the requirements of an operation apart from layouts, with `Class::check`.
template <class Operation, class... Papers>
[[nodiscard]] constexpr auto judge_attributes() noexcept {
  using class_type = typename Operation::operation_class;
  if constexpr (requires { class_type::check(Operation::how, tensor_descs{}); }) {
    return answer_to<Operation>([] {
      return class_type::check(attributes_for<Operation>(tensor_descs{Papers::value...}[0].rank()),
                               tensor_descs{Papers::value...});
    });
  } else {
    return allowed<>{};
  }
}

/// The call of an operation that is not elementwise, on tensors only. `Permitted` is its `across`,
/// which an error may suggest; void if it accepts none.
template <class Operation, class Permitted = void>
struct whole_call {
  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (!(... && EitherOperand<X>)) {
      return no_tensor<Operation, first_false<EitherOperand<X>...>, X...>{};
    } else if constexpr (abstract_among<X...> >= 0) {
      return refused<misuse::operand_is_abstract, Operation, operand_at{abstract_among<X...>}>{};
    } else if constexpr ((... || ValueOperand<X>)) {
      return value_domain_of<X...>::type::template judge<
          Operation, typename std::remove_cvref_t<X>::value_type...>();
    } else {
      using attributes = decltype(judge_attributes<Operation, paper_of<X>...>());
      if constexpr (!attributes::ok)
        return attributes{};
      else
        return judge_result<X...>();
    }
  }
  template <class First, class... Rest>
  [[nodiscard]] static constexpr auto apply(First&& first, Rest&&... rest) {
    if constexpr (ValueOperand<First> || (... || ValueOperand<Rest>)) {
      return value_domain_of<First, Rest...>::type::template apply<Operation>(
          static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
    } else {
      using result = result_of<Operation, paper_of<First>, paper_of<Rest>...>;
      using domain = typename std::remove_cvref_t<First>::domain;
      return domain::template apply<Operation, paper_from<result>>(
          known_for<domain, result>(first.mesh(), {&first.extents(), &rest.extents()...}),
          static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
    }
  }

 private:
  template <class First, class... Rest>
  [[nodiscard]] static constexpr auto judge_result() noexcept {
    using result = result_of<Operation, paper_of<First>, paper_of<Rest>...>;
    if constexpr (result::is_legal)
      return allowed<typename std::remove_cvref_t<First>::domain::template made<
          Operation, paper_from<result>, First, Rest...>>{};
    else
      return result::template judge<Permitted>();
  }
};

}  // namespace internal

/// Applies an operation that is not elementwise to tensors. Its attributes are types: a class with
/// `operation_class`, `how` and `rule(operands)`. An invalid call is one compile error or, if the
/// layout of an operand is a value, an exception.
///
///     return apply_operation<transpose_of<1, 0>>(x);
template <class Operation, class... X>
[[nodiscard]] constexpr internal::outcome_of<internal::whole_call<Operation>, X...> apply_operation(
    X&&... x) {
  return internal::carry_out<internal::whole_call<Operation>>(static_cast<X&&>(x)...);
}

}  // namespace shardwise
