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
  constexpr bool is_alone = sizeof...(Given) == 0;
  if constexpr (ValueOperand<left> && ValueOperand<right>) {
    const text_view words = matmul_equation(a.tensor().rank(), b.tensor().rank());
    if constexpr (is_alone && std::is_same_v<left, right>) {
      const bounded_text<47> named =
          named_dimensions(words, {a.tensor().extents, b.tensor().extents});
      require(parse_einsum(named).verdict);
      return left::value_domain::template apply_with_across<einsum_operation,
                                                            typename left::value_type>(
          0U, einsum_operation::how(named), static_cast<A&&>(a), static_cast<B&&>(b));
    } else {
      return einsum(words, a, b, given...);
    }
  } else {
    constexpr auto words = detail::matmul_words<left, right>;
    if constexpr (is_alone && Operand<left> && Operand<right> && !AnyRefused<left, right>)
      return einsum<detail::named_equation<words, left, right>>(static_cast<A&&>(a),
                                                                static_cast<B&&>(b));
    else
      return einsum<words>(a, b, given...);
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
