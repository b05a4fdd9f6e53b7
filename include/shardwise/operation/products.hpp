// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/einsum.hpp"

#include <utility>

namespace shardwise {

/// Returns the product of matrices, the last two dimensions: `einsum<"...ij,...jk->...ik">`. The
/// dimensions before them, if there are any, are a batch.
///
///     auto h = matmul(x, w);    // f32[8@data, 16], f32[16, 32@model] -> f32[8@data, 32@model]
template <NamedOperand A, NamedOperand B, class... Given>
[[nodiscard]] constexpr auto matmul(const A& a, const B& b, const Given&... given) {
  return einsum<"...ij,...jk->...ik">(a, b, given...);
}
/// Returns the sum of products of two vectors: `einsum<"i,i->">`.
template <NamedOperand A, NamedOperand B, class... Given>
[[nodiscard]] constexpr auto dot(const A& a, const B& b, const Given&... given) {
  return einsum<"i,i->">(a, b, given...);
}
/// Returns the products of each element of a vector and each of another: `einsum<"i,j->ij">`.
template <NamedOperand A, NamedOperand B, class... Given>
[[nodiscard]] constexpr auto outer(const A& a, const B& b, const Given&... given) {
  return einsum<"i,j->ij">(a, b, given...);
}
/// Returns the diagonal of square matrices, the last two dimensions: `einsum<"...ii->...i">`. Its
/// sum is their trace.
///
///     auto total = sum(diagonal(x));
template <NamedOperand A, class... Given>
[[nodiscard]] constexpr auto diagonal(const A& a, const Given&... given) {
  return einsum<"...ii->...i">(a, given...);
}

}  // namespace shardwise
