// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/einsum.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// Returns the equation of `matmul` for operands of these ranks: an operand of rank 1 is a vector,
/// others are matrices.
[[nodiscard]] constexpr text_view matmul_equation(int first_rank, int second_rank) noexcept {
  if (first_rank == 1) return second_rank == 1 ? "j,j->" : "j,...jk->...k";
  return second_rank == 1 ? "...ij,j->...i" : "...ij,...jk->...ik";
}

namespace detail {
/// The equation of `matmul` for two operands whose layouts are types.
template <class A, class B>
inline constexpr auto matmul_words = [] {
  if constexpr (Operand<A> && Operand<B> && !AnyRefused<A, B>) {
    constexpr text_view words = matmul_equation(A::extents_type::rank, B::extents_type::rank);
    return to_fixed_string<words.size()>(words);
  } else {
    return fixed_string("...ij,...jk->...ik");
  }
}();
}  // namespace detail

/// Returns the product of matrices, the last two dimensions: `einsum<"...ij,...jk->...ik">`. The
/// dimensions before them, if there are any, are a batch, and broadcast. An operand of rank 1 is a
/// vector, whose dimension the result does not have.
///
///     auto h = matmul(x, w);    // f32[8@data, 16], f32[16, 32@model] -> f32[8@data, 32@model]
///     auto y = matmul(x, v);    // f32[8@data, 16], f32[16] -> f32[8@data]
template <NamedOperand A, NamedOperand B, class... Given>
[[nodiscard]] constexpr auto matmul(A&& a, B&& b, const Given&... given) {
  using left = std::remove_cvref_t<A>;
  using right = std::remove_cvref_t<B>;
  if constexpr (AnyRefused<left, right> || sizeof...(Given) > 0) {
    if constexpr (ValueOperand<left> && ValueOperand<right>)
      return einsum(matmul_equation(a.tensor().rank(), b.tensor().rank()), a, b, given...);
    else
      return einsum<detail::matmul_words<left, right>>(a, b, given...);
  } else if constexpr (Operand<left> && Operand<right>) {
    return einsum<detail::named_equation<detail::matmul_words<left, right>, left, right>>(
        static_cast<A&&>(a), static_cast<B&&>(b));
  } else {
    using by_value = std::conditional_t<ValueOperand<left>, left, right>;
    const operand_extents extents{a.extents(), b.extents()};
    const bounded_text<47> words =
        named_dimensions(matmul_equation(extents[0].ssize(), extents[1].ssize()), extents);
    require(parse_einsum(words).verdict);
    return by_value::value_domain::template apply_with_across<einsum_operation,
                                                              typename by_value::value_type>(
        0U, einsum_operation::how(words), static_cast<A&&>(a), static_cast<B&&>(b));
  }
}
/// Returns the sum of products of two vectors: `einsum<"i,i->">`.
template <NamedOperand A, NamedOperand B, class... Given>
[[nodiscard]] constexpr auto dot(A&& a, B&& b, const Given&... given) {
  return einsum<"i,i->">(static_cast<A&&>(a), static_cast<B&&>(b), given...);
}
/// Returns the products of each element of a vector and each of another: `einsum<"i,j->ij">`.
template <NamedOperand A, NamedOperand B, class... Given>
[[nodiscard]] constexpr auto outer(A&& a, B&& b, const Given&... given) {
  return einsum<"i,j->ij">(static_cast<A&&>(a), static_cast<B&&>(b), given...);
}
/// Returns the diagonal of square matrices, the last two dimensions: `einsum<"...ii->...i">`. Its
/// sum is their trace.
///
///     auto total = sum(diagonal(x));
template <NamedOperand A, class... Given>
[[nodiscard]] constexpr auto diagonal(A&& a, const Given&... given) {
  return einsum<"...ii->...i">(static_cast<A&&>(a), given...);
}

}  // namespace shardwise
