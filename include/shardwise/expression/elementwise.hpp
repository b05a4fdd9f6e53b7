// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"

#include <utility>

namespace shardwise {

/// What a function applied element by element is called, how it treats pending reductions, and what
/// it costs an element. A function whose law depends on the elements has `law_for(element)` too.
///
///     struct silu : elementwise_function<"silu", linearity::nonlinear, 5> {};
template <fixed_string Symbol, linearity Law = linearity::nonlinear, int Flops = 1>
struct elementwise_function {
  static constexpr text_view symbol = Symbol;
  static constexpr linearity law = Law;
  static constexpr int flops = Flops;
};
/// The same for those of float and double only: what they give are fractions.
template <fixed_string Symbol, int Flops = 1>
struct fractional_function : elementwise_function<Symbol, linearity::nonlinear, Flops> {
  static constexpr bool has_fractions = true;
};

/// The operation that applies a function element by element: `Function` says what it is called, its
/// law and what it costs.
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
  [[nodiscard]] static constexpr factor_rule rule(const tensor_descs& operands) noexcept {
    return rule(how, operands);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc&, const attributes&,
                                                     const tensor_descs&,
                                                     const tensor_desc&) noexcept {
    return {.flops = Function::flops};
  }
};

namespace detail {

/// An operand beside `Tensor`, on paper: a number is a tensor of rank 0 that every device holds.
template <class Tensor, class X>
struct beside_of {
  using type = paper_tensor<typename Tensor::value_type, extents<>, layout<mesh_of<Tensor>, P<>>>;
};
template <class Tensor, Operand X>
struct beside_of<Tensor, X> {
  using type = paper_of<X>;
};
template <class Tensor, class X>
using beside = typename beside_of<Tensor, X>::type;

/// The place of the first number with a fraction among operands whose elements have none, or -1.
template <class T, class... X>
inline constexpr int number_that_is_cut =
    first_false<!(std::is_integral_v<T> && std::is_floating_point_v<std::remove_cvref_t<X>>)...>;

/// True for a function whose values have fractions, on elements that have none.
template <class Function, class T>
inline constexpr bool loses_fractions = std::is_integral_v<T>&& requires {
  requires Function::has_fractions;
};

/// An elementwise function that is legal by the types of its operands alone.
template <class Function, class... X>
concept LegalElementwise = !AnyRefused<X...> && requires {
  typename tensor_among<X...>;
  requires(... && Joins<X, tensor_among<X...>>);
  requires number_that_is_cut<typename tensor_among<X...>::value_type, X...> < 0;
  requires !loses_fractions<Function, typename tensor_among<X...>::value_type>;
  requires result_of<pointwise<Function>, beside<tensor_among<X...>, X>...>::is_legal;
};

/// Judges any other.
template <class Function, class... X>
[[nodiscard]] constexpr auto judge_elementwise() noexcept {
  using applied = pointwise<Function>;
  if constexpr (AnyRefused<X...>) {
    return allowed<refused_value>{};
  } else if constexpr (!(... && (EitherOperand<X> || Scalar<X>))) {
    return refused<no_tensor<applied, first_false<(EitherOperand<X> || Scalar<X>)...>, X...>>{};
  } else if constexpr (abstract_among<X...> >= 0) {
    return refused<operand_is_abstract<applied, operand<abstract_among<X...>>>>{};
  } else {
    using T = typename tensor_among<X...>::value_type;
    constexpr int cut = number_that_is_cut<T, X...>;
    if constexpr (cut >= 0)
      return refused<number_would_be_cut<applied, operand<cut>, T>>{};
    else if constexpr (loses_fractions<Function, T>)
      return refused<elements_have_no_fractions<applied, T>>{};
    else if constexpr ((... || ValueOperand<X>))
      return value_domain_of<X...>::type::template judge<applied, X...>();
    else
      return judge<applied, beside<tensor_among<X...>, X>...>();
  }
}

/// What `elementwise<Function>` gives for operands of these types: `type`, or the rule that it
/// breaks.
template <class Function, class... X>
struct elementwise_outcome : given<decltype(judge_elementwise<Function, X...>())> {
  static constexpr bool is_typed = false;
};
template <class Function, class... X>
  requires LegalElementwise<Function, X...>
struct elementwise_outcome<Function, X...> {
  static constexpr bool is_typed = true;
  static constexpr bool is_refusal = false;
  using domain = typename tensor_among<X...>::domain;
  using result = result_of<pointwise<Function>, beside<tensor_among<X...>, X>...>;
  using paper = paper_from<result>;
  using type = typename domain::template made<pointwise<Function>, paper, X...>;
};
/// What all operators and functions below give; its constraint is theirs.
template <class Function, class... X>
  requires ElementwiseOperands<X...>
using of_elements = typename elementwise_outcome<Function, X...>::type;

}  // namespace detail

/// Applies one of `functions` (or a user's own) element by element; numbers stand for themselves.
///
/// Extents meet from the last dimension backwards; a missing dimension or one of size 1 is
/// repeated. Inside one expression such calls fuse into one pass. Where the layout of an operand is
/// a value the result's is one too: the rules are checked when the function is applied.
template <class Function, class... X>
  requires ElementwiseOperands<X...>
[[nodiscard]] constexpr detail::of_elements<Function, X...> elementwise(X&&... operands) {
  using applied = pointwise<Function>;
  using outcome = detail::elementwise_outcome<Function, X...>;
  if constexpr (outcome::is_typed) {
    const extents_desc& extents = known_extents<typename outcome::result>(
        first_tensor(operands...).mesh(), {&known_extents(operands)...});
    return outcome::domain::template apply<applied, typename outcome::paper>(
        extents, std::forward<X>(operands)...);
  } else if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    return detail::value_domain_of<X...>::type::template apply<applied>(operands...);
  }
}

}  // namespace shardwise
