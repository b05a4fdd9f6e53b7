// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/reduce.hpp"

namespace shardwise {

/// Returns the integral along a dimension by the trapezoidal rule, of values at the distance `dx`:
/// their sum, in which the first and the last count half, times `dx`. It is 0 if there are fewer
/// than two values.
///
/// Nothing is communicated: a split dimension leaves the result pending.
///
///     auto area = trapezoid<1>(y, 0.5);   // f32[8, 64@model] -> f32[8]{partial sum: model}
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto trapezoid(const X& x, double dx = 1, const Given& given = {}) {
  const auto index = iota_like<Dim>(x);
  if constexpr (AnyRefused<decltype(index)>) {
    return refused_value{};
  } else {
    using T = typename X::value_type;
    using C = compute_type<T>;
    const index_t last = x.extents()[counted_from_front(Dim, x.extents().ssize())] - 1;
    const auto ends = cast<C>(equal(index, 0)) + cast<C>(equal(index, last));
    return internal::with_terms_as<T>(
        multiply(sum<Dim>(internal::widened(x) * (ends * -0.5 + 1)), dx, given));
  }
}

}  // namespace shardwise
