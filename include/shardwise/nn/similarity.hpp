// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/norm.hpp"
#include "shardwise/operation/reduce.hpp"

namespace shardwise::nn {

/// Returns the tensor divided by its norm along a dimension, which is taken to be at least
/// `least`. If the dimension is split, `across` names the axes over which squares are summed.
///
///     auto unit = nn::normalize<1>(x, across<"model">);
template <int Dim, EitherOperand X, fixed_string... Axes>
[[nodiscard]] constexpr auto normalize(const X& x, across_axes<Axes...> permitted = {},
                                       double least = 1e-12) {
  // In the elements of arithmetic: the norm of a long vector may be beyond the range of 16 bits,
  // and `least` is below it.
  const auto wide = internal::made_tensor(internal::widened(x));
  return internal::narrowed<typename X::value_type>(
      wide / maximum(l2_norm<Dim>(wide, keep_dims, permitted), least));
}

/// Returns the cosine of the angle between the vectors along a dimension: their product divided by
/// their norms, each of which is taken to be at least `least`.
///
///     auto alike = nn::cosine_similarity<1>(a, b);   // f32[8@data, 64], twice -> f32[8@data]
template <int Dim, EitherOperand A, EitherOperand B, fixed_string... Axes>
[[nodiscard]] constexpr auto cosine_similarity(const A& a, const B& b,
                                               across_axes<Axes...> permitted = {},
                                               double least = 1e-8) {
  const auto x = internal::made_tensor(internal::widened(a));
  const auto y = internal::made_tensor(internal::widened(b));
  // In the elements of squares: the products of long vectors may be beyond the range of others.
  const auto products = internal::finished(
      sum<Dim>(internal::for_products(x) * internal::for_products(y)), permitted);
  const auto length = [&](const auto& each) {
    return internal::for_products(maximum(l2_norm<Dim>(each, permitted), least));
  };
  return internal::narrowed<typename A::value_type>(products / (length(x) * length(y)));
}

}  // namespace shardwise::nn
