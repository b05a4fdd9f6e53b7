// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"
#include "shardwise/expression/terms.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <concepts>
#include <utility>

namespace shardwise {

/// The name of an elementwise function, its law for pending reductions, and its cost for each
/// element. A function whose law depends on the element type has `law_for(element)` too; one that
/// is computed on single elements, and so is not fused with others, has `on_elements`.
///
///     struct silu : elementwise_function<"silu", linearity::nonlinear, 5> {};
template <fixed_string Symbol, linearity Law = linearity::nonlinear, int Flops = 1>
struct elementwise_function {
  static constexpr text_view symbol = Symbol;
  static constexpr linearity law = Law;
  static constexpr int flops = Flops;
};
/// The same for functions on floating-point elements only, whose results are floating-point.
template <fixed_string Symbol, int Flops = 1>
struct fractional_function : elementwise_function<Symbol, linearity::nonlinear, Flops> {
  static constexpr bool has_fractions = true;
};

/// The operation that applies a function to each element: `Function` has its name, its law and its
/// cost.
template <class Function>
struct pointwise {
  using function = Function;
  using operation_class = pointwise;
  static constexpr text_view name = Function::symbol;
  static constexpr bool is_elementwise = true;
  static constexpr attributes how{};

  [[nodiscard]] static constexpr linearity law(const tensor_descs& operands) noexcept {
    if constexpr (requires { Function::law_for(element::f32); })
      return Function::law_for(operands[0].type);
    else
      return Function::law;
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    operand_extents extents;
    for (const tensor_desc& operand : operands) extents.push_back(operand.extents);
    return elementwise_rule(law(operands), extents);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc&, const attributes&,
                                                     const tensor_descs&,
                                                     const tensor_desc&) noexcept {
    return {.flops = Function::flops};
  }
  /// Operands are numbers of one type, unless the function declares otherwise: it is a comparison,
  /// selects by a `bool`, or works on `bool`.
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    if constexpr (requires { Function::takes_any; }) {
      return {};
    } else if constexpr (requires { Function::of_truth_values; }) {
      return check_truth_values(operands, operands.ssize());
    } else if constexpr (requires { Function::masks; }) {
      for (int o = 0; o < operands.ssize(); ++o)
        if ((operands[o].type == element::boolean) != (o > 0))
          return {.rule = o > 0 ? violation::operand_is_no_truth_value
                                : violation::operand_is_no_number,
                  .operand = o};
      return {};
    } else if constexpr (requires { Function::chooses; }) {
      const diagnosis condition = check_truth_values(operands, 1);
      return condition.ok() ? check_alike(operands, 1, true) : condition;
    } else {
      return check_alike(
          operands, 0, requires { Function::compares; });
    }
  }
  static constexpr bool stops_gradient = requires { Function::stops_gradient; };
  /// The gradient of the function, if it has one.
  static constexpr void gradient(gradient_step& at) requires requires { Function::gradient(at); }
  { Function::gradient(at); }
  [[nodiscard]] static constexpr element result_type(const attributes&,
                                                     const tensor_descs& operands) noexcept {
    if constexpr (requires { Function::result; })
      return Function::result;
    else if constexpr (requires { Function::chooses; })
      return operands[1].type;
    else
      return operands[0].type;
  }
};

namespace internal {

/// The type of the numbers among the operands: that of the elements with which they are combined.
/// With only a condition, as in `where(x > 0, 1.0F, 0.0F)`, it is their own.
template <class Function, class... X>
struct number_type {
  using type = typename tensor_among<X...>::value_type;
};
template <class Function, class Condition, class... X>
  requires(requires { Function::chooses; } && (... || EitherOperand<X>))
struct number_type<Function, Condition, X...> {
  using type = typename tensor_among<X...>::value_type;
};
template <class Function, class Condition, Scalar... X>
  requires requires { Function::chooses; }
struct number_type<Function, Condition, X...> {
  using common = std::common_type_t<std::remove_cvref_t<X>...>;
  using type = std::conditional_t<is_element<common>, common, double>;
};

/// An abstract operand: a number is a replicated tensor of rank 0.
template <class Mesh, class Number, class X>
struct beside_of {
  using type = paper_tensor<Number, extents<>, layout<Mesh, P<>>>;
};
template <class Mesh, class Number, Operand X>
struct beside_of<Mesh, Number, X> {
  using type = paper_of<X>;
};
/// The result of a function of operands of these types.
template <class Function, class... X>
using elementwise_result =
    result_of<pointwise<Function>,
              typename beside_of<mesh_of<tensor_among<X...>>,
                                 typename number_type<Function, X...>::type, X>::type...>;

/// The element type of an operand, a tensor or a number.
template <class Number, class X>
struct element_type_of {
  using type = Number;
};
template <class Number, EitherOperand X>
struct element_type_of<Number, X> {
  using type = typename std::remove_cvref_t<X>::value_type;
};

/// True for a `bool` and for a tensor of them.
template <class X>
inline constexpr bool is_truth_value = std::is_same_v<std::remove_cvref_t<X>, bool>;
template <EitherOperand X>
inline constexpr bool is_truth_value<X> =
    std::is_same_v<typename std::remove_cvref_t<X>::value_type, bool>;

/// True for numbers of a floating-point type, of 16 bits too.
template <class X>
inline constexpr bool is_fractional_number = std::is_floating_point_v<std::remove_cvref_t<X>>;
template <class X>
  requires(std::is_same_v<std::remove_cvref_t<X>, bfloat16> ||
           std::is_same_v<std::remove_cvref_t<X>, float16>)
inline constexpr bool is_fractional_number<X> = true;

/// The position of the first floating-point number among operands with integer elements, or -1.
template <class T, class... X>
inline constexpr int number_that_is_cut =
    first_false<!(Scalar<X> && !has_fractions(element_of<T>) && is_fractional_number<X>)...>;

/// Checks that an integer given as an operand or as a fill value can be represented in `T`.
template <class T, class X>
constexpr void require_in_range(const X& number) {
  using value = std::remove_cvref_t<X>;
  if constexpr (std::integral<value> && std::integral<T> && !std::same_as<value, bool>) {
    if constexpr (std::same_as<T, bool>) {
      if (number == 0 || number == 1) return;
    } else {
      if (std::in_range<T>(+number)) return;
    }
    message_text words;
    fail({.rule = violation::number_is_out_of_range},
         words << number << " is no " << to_text(element_of<T>));
  }
}

/// Checks that a number applied to each term of a pending sum gives the terms of the result: finite
/// terms times infinity, or divided by 0, do not add up to what their sum gives.
template <class Function, class T, class... X>
constexpr void require_terms_of_result(const X&... operands) {
  if constexpr (requires { Function::template distributes<T>(1); } && Fractional<T> &&
                (... || Scalar<X>)) {
    const auto is_pending = []<class Each>(const Each& each) {
      if constexpr (Scalar<Each>)
        return false;
      else if constexpr (ValueOperand<Each>)
        return axes_of_several(each.mesh(), each.layout().pending) != 0;
      else
        return axes_of_several(each.mesh(), Each::layout_type::value.pending) != 0;
    };
    const auto distributes = []<class Each>(const Each& each) {
      if constexpr (Scalar<Each>)
        return Function::template distributes<T>(each);
      else
        return true;
    };
    if ((... && distributes(operands)) || !(... || is_pending(operands))) return;
    int pending = 0;
    (void)(... || (is_pending(operands) || (++pending, false)));
    fail({.rule = violation::partial_value_is_read, .operand = pending},
         "reshard a pending sum before it is multiplied by infinity or divided by 0");
  }
}

/// True for a function with floating-point results, on elements that are not floating-point.
template <class Function, class T>
inline constexpr bool loses_fractions = !has_fractions(element_of<T>) && requires {
  requires Function::has_fractions;
};

/// True for a bitwise function, on elements that are not integers.
template <class Function, class T>
inline constexpr bool lacks_bits = !Whole<T> && requires {
  requires Function::of_integers;
};

/// The position of the first operand that is no `bool` in a comparison with a tensor of `bool`,
/// such as the second one of `0 < x < 1`; or -1.
template <class Function, class... X>
inline constexpr int compared_with_truth_values = [] {
  if constexpr ((... || (EitherOperand<X> && is_truth_value<X>)))
    return first_false<is_truth_value<X>...>;
  else
    return -1;
}();
template <class Function, class... X>
  requires(!requires { Function::compares; })
inline constexpr int compared_with_truth_values<Function, X...> = -1;

/// An elementwise function whose operand types alone make it valid.
template <class Function, class... X>
concept LegalElementwise = !AnyRefused<X...> && requires {
  typename tensor_among<X...>;
  requires(... && Joins<X, tensor_among<X...>>);
  requires number_that_is_cut<typename number_type<Function, X...>::type, X...> < 0;
  requires compared_with_truth_values<Function, X...> < 0;
  requires !loses_fractions<Function, typename tensor_among<X...>::value_type>;
  requires !lacks_bits<Function, typename tensor_among<X...>::value_type>;
  requires elementwise_result<Function, X...>::is_legal;
};

/// The call of an elementwise function.
template <class Function>
struct elementwise_call {
  using applied = pointwise<Function>;

  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (ends_with_terms<X...>()) {
      return elementwise_call_on_terms<Function>::template judge<X...>();
    } else if constexpr (!(... && (EitherOperand<X> || Scalar<X>))) {
      return no_tensor<applied, first_false<(EitherOperand<X> || Scalar<X>)...>, X...>{};
    } else if constexpr (abstract_among<X...> >= 0) {
      return refused<misuse::operand_is_abstract, applied, operand_at{abstract_among<X...>}>{};
    } else {
      using T = typename tensor_among<X...>::value_type;
      using number = typename number_type<Function, X...>::type;
      constexpr int cut = number_that_is_cut<number, X...>;
      constexpr int chained = compared_with_truth_values<Function, X...>;
      if constexpr (chained >= 0)
        return refused<misuse::truth_values_are_compared, applied, operand_at{chained}>{};
      else if constexpr (cut >= 0)
        return refused<misuse::number_would_be_cut, of_types<applied, number>, operand_at{cut}>{};
      else if constexpr (loses_fractions<Function, T>)
        return refused<misuse::elements_have_no_fractions, of_types<applied, T>>{};
      else if constexpr (lacks_bits<Function, T>)
        return refused<misuse::elements_are_no_integers, of_types<applied, T>>{};
      else if constexpr ((... || ValueOperand<X>))
        return value_domain_of<X...>::type::template judge<
            applied, typename element_type_of<number, X>::type...>();
      else
        return elementwise_result<Function, X...>::judge();
    }
  }

  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... operands) {
    if constexpr (LegalElementwise<Function, X...>) {
      (require_in_range<typename number_type<Function, X...>::type>(operands), ...);
      require_terms_of_result<Function, typename number_type<Function, X...>::type>(operands...);
      using result = elementwise_result<Function, X...>;
      const extents_desc& extents = known_extents<result>(first_tensor(operands...).mesh(),
                                                          {&shardwise::known_extents(operands)...});
      return tensor_among<X...>::domain::template apply<applied, paper_from<result>>(
          extents, std::forward<X>(operands)...);
    } else if constexpr (ends_with_terms<X...>()) {
      return elementwise_call_on_terms<Function>::apply(std::forward<X>(operands)...);
    } else {
      (require_in_range<typename number_type<Function, X...>::type>(operands), ...);
      require_terms_of_result<Function, typename number_type<Function, X...>::type>(operands...);
      return value_domain_of<X...>::type::template apply<applied>(std::forward<X>(operands)...);
    }
  }
};
template <class Function, class... X>
  requires LegalElementwise<Function, X...>
struct outcome<elementwise_call<Function>, X...> {
  static constexpr bool is_refusal = false;
  using type = typename tensor_among<X...>::domain::template made<
      pointwise<Function>, paper_from<elementwise_result<Function, X...>>, X...>;
};
/// The result type of all operators and functions below, which also constrains them.
template <class Function, class... X>
  requires JudgedOperands<X...>
using of_elements = outcome_of<elementwise_call<Function>, X...>;

}  // namespace internal

/// Applies one of `functions` (or a user's own) to each element; operands may be numbers.
///
/// Dimensions are aligned from the last one; a missing dimension or one of size 1 is broadcast.
/// Within one expression such calls are fused into one pass. If the layout of an operand is a
/// value, so is that of the result, and the rules are checked at run time. The last argument may be
/// `as<...>`, which requests the layout of the result, or `across<...>`.
template <class Function, class... X>
  requires detail::JudgedOperands<X...>
[[nodiscard]] constexpr internal::of_elements<Function, X...> elementwise(X&&... operands) {
  using call = internal::elementwise_call<Function>;
  using outcome = internal::outcome<call, X...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return call::apply(std::forward<X>(operands)...);
}

/// The same for values of a program whose gradient is taken.
///
///     at.give(0, at.cotangent() * elementwise<functions::tanh>(at.operand(0)));
template <class Function, std::same_as<gradient_value>... Rest>
[[nodiscard]] constexpr gradient_value elementwise(const gradient_value& first,
                                                   const Rest&... rest) {
  return emit<pointwise<Function>>({}, first, rest...);
}

}  // namespace shardwise
