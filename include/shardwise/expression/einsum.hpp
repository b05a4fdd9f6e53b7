// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"

namespace shardwise {

namespace detail {

/// A contraction that is legal by the types of its operands alone.
template <fixed_string Equation, class First, class... Rest>
concept LegalEinsum = Operand<First> && (... && Operand<Rest>) && requires {
  requires(... && std::is_same_v<typename std::remove_cvref_t<First>::domain,
                                 typename std::remove_cvref_t<Rest>::domain>);
  requires einsum_of<Equation>::parsed.verdict.ok();
  requires result_of<einsum_of<Equation>, paper_of<First>, paper_of<Rest>...>::is_legal;
};

/// Judges any other.
template <fixed_string Equation, class First, class... Rest>
[[nodiscard]] constexpr auto judge_einsum() noexcept {
  using operation = einsum_of<Equation>;
  if constexpr (AnyRefused<First, Rest...>) {
    return allowed<refused_value>{};
  } else if constexpr (!(EitherOperand<First> && ... && EitherOperand<Rest>)) {
    constexpr int at = first_false<EitherOperand<First>, EitherOperand<Rest>...>;
    return refused<no_tensor<operation, at, First, Rest...>>{};
  } else if constexpr (abstract_among<First, Rest...> >= 0) {
    return refused<operand_is_abstract<operation, operand<abstract_among<First, Rest...>>>>{};
  } else if constexpr (!operation::parsed.verdict.ok()) {
    return refused<einsum_is_malformed<Equation, int{operation::parsed.verdict.have}>>{};
  } else if constexpr ((ValueOperand<First> || ... || ValueOperand<Rest>)) {
    return value_domain_of<First, Rest...>::type::template judge<operation, First, Rest...>();
  } else {
    return judge<operation, paper_of<First>, paper_of<Rest>...>();
  }
}

/// What `einsum` gives for operands of these types.
template <fixed_string Equation, class... X>
struct einsum_outcome : given<decltype(judge_einsum<Equation, X...>())> {
  static constexpr bool is_typed = false;
};
template <fixed_string Equation, class First, class... Rest>
  requires LegalEinsum<Equation, First, Rest...>
struct einsum_outcome<Equation, First, Rest...> {
  static constexpr bool is_typed = true;
  using domain = typename std::remove_cvref_t<First>::domain;
  using result = result_of<einsum_of<Equation>, paper_of<First>, paper_of<Rest>...>;
  using paper = paper_from<result>;
  using type = typename domain::template made<einsum_of<Equation>, paper, First, Rest...>;
};

}  // namespace detail

/// Sums the products of one or two tensors over the letters that the result does not name.
///
/// Dimensions with the same letter must be split alike; a letter that is split and summed leaves
/// the result pending over its axes. No communication happens here. Where the layout of an operand
/// is a value the result's is one too; the equation may then be one: `einsum("bi,ih->bh", x, w1)`.
///
///     auto h = einsum<"bi,ih->bh">(x, w1);   // matrix product
///     auto t = einsum<"ij->ji">(x);          // transpose
template <fixed_string Equation, class First, class... Rest>
[[nodiscard]] constexpr typename detail::einsum_outcome<Equation, First, Rest...>::type einsum(
    First&& first, Rest&&... rest) {
  using operation = einsum_of<Equation>;
  using outcome = detail::einsum_outcome<Equation, First, Rest...>;
  if constexpr (outcome::is_typed) {
    using result = typename outcome::result;
    const propagation& split =
        known_split<result>(first.mesh(), {&first.extents(), &rest.extents()...});
    return outcome::domain::template apply<operation, typename outcome::paper>(
        split, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  } else if constexpr (outcome::is_refusal) {
    return outcome::value();
  } else {
    return detail::value_domain_of<First, Rest...>::type::template apply<operation>(first, rest...);
  }
}

}  // namespace shardwise
