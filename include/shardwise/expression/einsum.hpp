// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operation.hpp"

namespace shardwise {

/// Sums the products of one or two tensors over the letters that the result does not name.
///
/// Dimensions with the same letter must be split alike; a letter that is split and summed leaves
/// the result pending over its axes. No communication happens here. Where the layout of an operand
/// is a value the result's is one too; the equation may then be one: `einsum("bi,ih->bh", x, w1)`.
///
///     auto h = einsum<"bi,ih->bh">(x, w1);   // matrix product
///     auto t = einsum<"ij->ji">(x);          // transpose
template <fixed_string Equation, class First, class... Rest>
[[nodiscard]] constexpr auto einsum(First&& first, Rest&&... rest) {
  using operation = einsum_of<Equation>;
  if constexpr (AnyRefused<First, Rest...>) {
    return refused_value{};
  } else if constexpr (!(EitherOperand<First> && ... && EitherOperand<Rest>)) {
    constexpr int at = detail::first_false<EitherOperand<First>, EitherOperand<Rest>...>;
    using shown [[maybe_unused]] = decltype(detail::no_tensor<operation, at, First, Rest...>{});
    return refused_value{};
  } else if constexpr (!operation::parsed.verdict.ok()) {
    using shown [[maybe_unused]] =
        decltype(einsum_is_malformed<Equation, int{operation::parsed.verdict.have}>{});
    return refused_value{};
  } else if constexpr ((ValueOperand<First> || ... || ValueOperand<Rest>)) {
    return detail::value_domain_of<First, Rest...>::type::template apply<operation>(first, rest...);
  } else if constexpr (!is_legal<operation, paper_of<First>, paper_of<Rest>...>) {
    using shown [[maybe_unused]] =
        decltype(typename decltype(judge<operation, paper_of<First>, paper_of<Rest>...>())::type{});
    return refused_value{};
  } else {
    using result = result_of<operation, paper_of<First>, paper_of<Rest>...>;
    const propagation& split = result::known(first.mesh(), {&first.extents(), &rest.extents()...});
    return std::remove_cvref_t<First>::domain::template apply<operation, paper_from<result>>(
        split, static_cast<First&&>(first), static_cast<Rest&&>(rest)...);
  }
}

}  // namespace shardwise
