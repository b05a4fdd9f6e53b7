// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/einsum_operation.hpp"
#include "shardwise/operation/misplaced_options.hpp"
#include "shardwise/rule/contraction_order.hpp"

#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace internal {

/// A contraction whose operand types alone make it valid.
template <class Operation, class First, class... Rest>
concept LegalEinsum =
    Operand<First> &&(...&& Operand<Rest>)&&!AnyRefused<First, Rest...> && requires {
  requires(... && std::is_same_v<typename std::remove_cvref_t<First>::domain,
                                 typename std::remove_cvref_t<Rest>::domain>);
  requires Operation::parsed.verdict.ok();
  requires result_of<Operation, paper_of<First>, paper_of<Rest>...>::is_legal;
};

/// The call of a contraction: an operation on tensors whose equation is checked first.
template <class Applied>
struct contraction_call : whole_call<Applied> {
  using applied = Applied;

  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr ((... && EitherOperand<X>)&&abstract_among<X...> < 0 &&
                  !applied::parsed.verdict.ok())
      return answer_to<applied>([] { return applied::parsed.verdict; });
    else
      return whole_call<applied>::template judge<X...>();
  }
};
template <class Applied, class First, class... Rest>
  requires LegalEinsum<Applied, First, Rest...>
struct outcome<contraction_call<Applied>, First, Rest...> {
  static constexpr bool is_refusal = false;
  using result = result_of<Applied, paper_of<First>, paper_of<Rest>...>;
  using type =
      typename std::remove_cvref_t<First>::domain::template made<Applied, paper_from<result>, First,
                                                                 Rest...>;
};
template <fixed_string Equation>
using einsum_call = contraction_call<einsum_of<Equation>>;

/// The default arithmetic of a contraction.
struct sums_of_products {
  using operation_class = einsum_operation;
  static constexpr bool distributes = true;
  template <fixed_string Equation>
  using applied = einsum_of<Equation>;
  /// Returns the rule of a valid equation of any number of operands.
  [[nodiscard]] static constexpr factor_rule rule(text_view equation) noexcept {
    return parse_einsum(equation, max_operands).rule;
  }
};

}  // namespace internal

/// Computes the sum of products of one or two tensors over the letters that are not in the result.
///
/// Dimensions with the same letter must be split alike; a letter that is split and summed leaves
/// the result pending over its axes. Nothing is communicated. If the layout of an operand is a
/// value, so is that of the result; the equation may then be a value too: `einsum("bi,ih->bh", x,
/// w1)`.
///
///     auto h = einsum<"bi,ih->bh">(x, w1);   // matrix product
///     auto t = einsum<"ij->ji">(x);          // transpose
template <fixed_string Equation, class First, class... Rest>
[[nodiscard]] constexpr internal::outcome_of<internal::einsum_call<Equation>, First, Rest...>
einsum(First&& first, Rest&&... rest) {
  using call = internal::einsum_call<Equation>;
  using outcome = internal::outcome<call, First, Rest...>;
  if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else if constexpr (requires { typename outcome::result; }) {
    // The same as `apply`, with one function call less, since programs contain many.
    using result = typename outcome::result;
    using domain = typename std::remove_cvref_t<First>::domain;
    return domain::template apply<einsum_of<Equation>, paper_from<result>>(
        known_for<domain, result>(first.mesh(), {&first.extents(), &rest.extents()...}),
        static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  } else {
    return call::apply(static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  }
}

namespace detail {

/// The first step of a contraction of tensors whose layouts are types.
template <fixed_string Equation, bool Distributes, class... X>
struct ordered_contraction {
  static constexpr contraction_step step = first_contraction(
      Equation, operand_extents{std::remove_cvref_t<X>::extents_type::value...}, Distributes);
  static constexpr auto pair = to_fixed_string<step.pair.size()>(step.pair);
  static constexpr auto rest = to_fixed_string<step.rest.size()>(step.rest);
  /// Returns the number of the `i`th remaining operand.
  [[nodiscard]] static constexpr std::size_t waiting(std::size_t i) noexcept {
    const auto first = static_cast<std::size_t>(step.first);
    const auto second = static_cast<std::size_t>(step.second);
    return i + (i >= first ? 1 : 0) + (i + 1 >= second ? 1 : 0);
  }
};

/// The call of a contraction that may communicate over the axes that `Permitted` names; over none
/// if that is void, or if the equation is wrong, which is reported first.
template <class Applied, class Permitted>
using permitted_contraction =
    std::conditional_t<std::is_void_v<Permitted> || !Applied::parsed.verdict.ok(),
                       contraction_call<Applied>, fetching_call<Applied, Permitted>>;

/// The contraction of operands whose layouts are types, two at a time, or the rule that it breaks.
template <class Arithmetic, fixed_string Equation, class Permitted, class... X>
[[nodiscard]] constexpr auto contracted(const X&... x) {
  constexpr bool has_all = equation_words(Equation).operands.size() == sizeof...(X);
  if constexpr (AnyRefused<X...>) {
    return refused<>{};
  } else if constexpr (sizeof...(X) <= 2 || !has_all) {
    using call = permitted_contraction<typename Arithmetic::template applied<Equation>, Permitted>;
    if constexpr (outcome<call, const X&...>::is_refusal)
      return typename outcome<call, const X&...>::judged{};
    else
      return call::apply(x...);
  } else {
    using order = ordered_contraction<Equation, Arithmetic::distributes, X...>;
    const auto all = std::tie(x...);
    const auto product = contracted<Arithmetic, order::pair, Permitted>(
        std::get<static_cast<std::size_t>(order::step.first)>(all),
        std::get<static_cast<std::size_t>(order::step.second)>(all));
    if constexpr (given_of<std::remove_const_t<decltype(product)>>::is_refusal)
      return product;
    else
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return contracted<Arithmetic, order::rest, Permitted>(product,
                                                              std::get<order::waiting(I)>(all)...);
      }
    (std::make_index_sequence<sizeof...(X) - 2>{});
  }
}

/// A contraction of three or more operands as a single operation, which is only judged.
template <class Arithmetic, fixed_string Equation>
struct whole_contraction {
  using applied = typename Arithmetic::template applied<Equation>;
  using operation_class = typename applied::operation_class;
  static constexpr attributes how{};
  static constexpr factor_rule all = Arithmetic::rule(Equation);
  [[nodiscard]] static constexpr const factor_rule& rule(const tensor_descs&) noexcept {
    return all;
  }
};
/// Its refusal, with the name that the contraction has in the program.
template <class Judged>
struct refused_contraction {
  using type = Judged;
};
template <auto Rule, class Arithmetic, fixed_string Equation, auto... Facts>
struct refused_contraction<refused<Rule, whole_contraction<Arithmetic, Equation>, Facts...>> {
  using type = refused<Rule, typename Arithmetic::template applied<Equation>, Facts...>;
};
template <auto Rule, class Arithmetic, fixed_string Equation, class... More, auto... Facts>
struct refused_contraction<
    refused<Rule, of_types<whole_contraction<Arithmetic, Equation>, More...>, Facts...>> {
  using type =
      refused<Rule, of_types<typename Arithmetic::template applied<Equation>, More...>, Facts...>;
};

/// Returns the refusal of a contraction of which a step is refused. A step has operands that the
/// program does not write, so the contraction as a whole is judged, whose operands are those of the
/// call; only if that breaks no rule, the error is that of the step.
template <class Step, class Arithmetic, fixed_string Equation, class Permitted, class... X>
[[nodiscard]] constexpr auto judge_at_once() noexcept {
  if constexpr (!(... && Operand<X>) || abstract_among<X...> >= 0) {
    return Step{};
  } else if constexpr (!parse_einsum(Equation, max_operands).verdict.ok()) {
    return Step{};
  } else {
    using result = result_of<whole_contraction<Arithmetic, Equation>, paper_of<X>...>;
    using judged = decltype(result::template judge<Permitted>());
    return std::conditional_t<judged::ok, Step, typename refused_contraction<judged>::type>{};
  }
}
/// The contraction of operands whose layouts are types.
template <class Arithmetic, fixed_string Equation, class Permitted, class... X>
[[nodiscard]] constexpr auto contracted_in_steps(const X&... x) {
  if constexpr (sizeof...(X) <= 2 || AnyRefused<X...>) {
    return contracted<Arithmetic, Equation, Permitted>(x...);
  } else {
    using made = decltype(contracted<Arithmetic, Equation, Permitted>(x...));
    if constexpr (given_of<made>::is_refusal)
      return judge_at_once<made, Arithmetic, Equation, Permitted, X...>();
    else
      return contracted<Arithmetic, Equation, Permitted>(x...);
  }
}

template <fixed_string Equation, class... X>
inline constexpr auto named_equation = [] {
  constexpr bounded_text<47> words =
      named_dimensions(Equation, operand_extents{std::remove_cvref_t<X>::extents_type::value...});
  return to_fixed_string<words.size()>(words);
}();

/// The same for abbreviated equations, and for layouts that are values.
template <class Arithmetic, fixed_string Equation, class Permitted, class... X>
[[nodiscard]] constexpr auto attempt_contraction(const X&... x) {
  if constexpr (AnyRefused<X...>)
    return refused<>{};
  else if constexpr ((... || ValueOperand<X>)&&(sizeof...(X) > 2 || is_abbreviated(Equation)))
    return contract_values<Permitted>(Arithmetic{}, text_view(Equation), x...);
  else if constexpr (is_abbreviated(Equation))
    return contracted_in_steps<Arithmetic, named_equation<Equation, X...>, Permitted>(x...);
  else
    return contracted_in_steps<Arithmetic, Equation, Permitted>(x...);
}
template <class Arithmetic, fixed_string Equation, class Permitted, class... X>
using contraction_of = given_of<decltype(attempt_contraction<Arithmetic, Equation, Permitted>(
    std::declval<const std::remove_cvref_t<X>&>()...))>;

/// The same for an overload that may not be intended: clang determines its return type before it
/// checks its constraint.
template <bool IsMeant, class Arithmetic, fixed_string Equation, class... X>
struct contraction_if : contraction_of<Arithmetic, Equation, void, X...> {};
template <class Arithmetic, fixed_string Equation, class... X>
struct contraction_if<false, Arithmetic, Equation, X...> {
  using type = void;
};
/// True for arguments of which the first is a tensor, and no type of elements that the call states,
/// and the last is not the terms of the call.
template <class First, class... Rest>
inline constexpr bool are_operands_alone = !Element<First> && !ends_with_terms<Rest...>();
/// True for arguments of which the last is the terms of the call.
template <class First, class... Rest>
inline constexpr bool are_operands_and_terms = !Element<First> && ends_with_terms<Rest...>();

}  // namespace detail

/// Contracts three or more tensors, two at a time. The pair whose product needs the fewest
/// multiplications is contracted first, computed from the whole extents, where `dyn` extents count
/// as 1.
///
///     auto y = einsum<"ab,bc,cd->ad">(a, b, c);
template <fixed_string Equation, class First, class Second, class Third, class... Rest>
  requires(!internal::is_abbreviated(Equation) && sizeof...(Rest) + 3 <= max_operands &&
           detail::are_operands_alone<First, Third, Rest...>)
[[nodiscard]] constexpr typename detail::contraction_if<
    !internal::is_abbreviated(Equation) && detail::are_operands_alone<First, Third, Rest...>,
    internal::sums_of_products, Equation, First, Second, Third, Rest...>::type
einsum(First&& first, Second&& second, Third&& third, Rest&&... rest) {
  using arithmetic = internal::sums_of_products;
  using outcome = detail::contraction_of<arithmetic, Equation, void, First, Second, Third, Rest...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return detail::attempt_contraction<arithmetic, Equation, void>(first, second, third, rest...);
}
/// In equations, `...` stands for leading dimensions, which are broadcast as in elementwise
/// functions, those of size 1 included. Spaces have no meaning. A result that is not written has
/// the letters that the equation has once, in alphabetical order, as in NumPy.
///
///     auto y = einsum<"...ij,jk->...ik">(x, w);
///     auto z = einsum<"ij, jk">(x, w);          // "ij,jk->ik"
template <fixed_string Equation, class First, class... Rest>
  requires(internal::is_abbreviated(Equation) && sizeof...(Rest) < max_operands &&
           detail::are_operands_alone<First, Rest...>)
[[nodiscard]] constexpr
    typename detail::contraction_if<internal::is_abbreviated(Equation) &&
                                        detail::are_operands_alone<First, Rest...>,
                                    internal::sums_of_products, Equation, First, Rest...>::type
    einsum(First&& first, Rest&&... rest) {
  using arithmetic = internal::sums_of_products;
  using outcome = detail::contraction_of<arithmetic, Equation, void, First, Rest...>;
  if constexpr (outcome::is_refusal)
    return outcome::value();
  else
    return detail::attempt_contraction<arithmetic, Equation, void>(first, rest...);
}

namespace detail {
/// The call of a contraction that may communicate over the axes that `Permitted` names.
template <class Arithmetic, fixed_string Equation, class Permitted>
struct contraction_across {
  template <class... X>
  static constexpr bool is_one_step = sizeof...(X) <= 2 && !is_abbreviated(Equation);
  using one_step =
      permitted_contraction<typename Arithmetic::template applied<Equation>, Permitted>;

  template <class... X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (is_one_step<X...>)
      return one_step::template judge<X...>();
    else
      return judge_steps<contraction_of<Arithmetic, Equation, Permitted, X...>>();
  }
  template <class... X>
  [[nodiscard]] static constexpr auto apply(X&&... x) {
    if constexpr (is_one_step<X...>)
      return one_step::apply(static_cast<X&&>(x)...);
    else
      return attempt_contraction<Arithmetic, Equation, Permitted>(x...);
  }

 private:
  template <class Outcome>
  [[nodiscard]] static constexpr auto judge_steps() noexcept {
    if constexpr (Outcome::is_refusal)
      return typename Outcome::judged{};
    else
      return allowed<typename Outcome::type>{};
  }
};
/// The call of a contraction whose last argument is its terms.
template <class Arithmetic, fixed_string Equation>
struct contraction_on_terms {
  template <class Permitted>
  using with = contraction_across<Arithmetic, Equation, Permitted>;
  using type = call_with_terms<with>;
};

/// The result of such a call, if it is meant.
template <bool IsMeant, class Arithmetic, fixed_string Equation, class... X>
struct terms_if : outcome<typename contraction_on_terms<Arithmetic, Equation>::type, X...> {};
template <class Arithmetic, fixed_string Equation, class... X>
struct terms_if<false, Arithmetic, Equation, X...> {
  using type = void;
};
}  // namespace detail

/// Contracts tensors after those whose layouts conflict have been gathered over permitted axes, or
/// reshards the result to the requested layout: a pending sum is reduced, or reduced and scattered.
///
///     auto y = einsum<"bi,io->bo">(x, w, as<P<"data", "model">>);
///     auto z = einsum<"ij,jk->ik">(rows, columns, across<"data">);
template <fixed_string Equation, class First, class... Rest>
  requires(detail::are_operands_and_terms<First, Rest...>)
[[nodiscard]] constexpr
    typename detail::terms_if<detail::are_operands_and_terms<First, Rest...>,
                              internal::sums_of_products, Equation, First, Rest...>::type
    einsum(First&& first, Rest&&... rest) {
  return internal::carry_out<
      typename detail::contraction_on_terms<internal::sums_of_products, Equation>::type>(
      static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
}

namespace internal {
/// Converts an operand of a contraction to the element type in which products are added; terms and
/// operands of that type are returned as they are.
template <Element In, class X>
[[nodiscard]] constexpr decltype(auto) to_accumulate_in(X&& x) {
  if constexpr (Terms<std::remove_cvref_t<X>> || AnyRefused<X>)
    return static_cast<X&&>(x);
  else if constexpr (std::is_same_v<typename std::remove_cvref_t<X>::value_type, In>)
    return static_cast<X&&>(x);
  else
    return shardwise::cast<In>(static_cast<X&&>(x));
}
}  // namespace internal

/// Contracts tensors whose elements are first converted to `In`, the element type in which products
/// are added, and of the result: JAX's `preferred_element_type`. A pending sum has these elements
/// too, and is reduced in them. See `cast` for numbers that `In` cannot represent.
///
///     auto logits = einsum<"bd,dv->bv", float>(x, table);        // bf16 operands, f32 result
///     auto dots = einsum<"bi,io->bo", std::int32_t>(a, b);       // i8 operands, i32 result
template <fixed_string Equation, Element In, class First, class... Rest>
[[nodiscard]] constexpr auto einsum(First&& first, Rest&&... rest) {
  return einsum<Equation>(internal::to_accumulate_in<In>(static_cast<First&&>(first)),
                          internal::to_accumulate_in<In>(static_cast<Rest&&>(rest))...);
}

/// Error: the equation is a template argument.
template <Operand First, class... Rest>
detail::options_misplaced<"einsum<\"bi,io->bo\">(x, w)", First> einsum(text_view, const First&,
                                                                       const Rest&...) {
  return {};
}

}  // namespace shardwise
