// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/squeeze.hpp"

namespace shardwise {

/// Returns a quantile of the elements along a dimension: the value at a fraction of their sorted
/// order, interpolated linearly between two elements, as NumPy does by default. The fraction is
/// clamped to [0, 1]. The result is NaN if any element is NaN; infinities are kept.
///
/// The dimension must not be split, or is gathered over permitted axes.
///
///     auto high = quantile<1>(x, 0.95);              // f32[8@data, 64] -> f32[8@data]
template <int Dim, NamedOperand X, internal::Terms... Given>
[[nodiscard]] constexpr auto quantile(const X& x, double fraction, const Given&... given) {
  const auto in_order = sort<Dim>(x, internal::without_request(given)...);
  if constexpr (AnyRefused<decltype(in_order)>) {
    return refused_value{};
  } else {
    using T = typename X::value_type;
    // In the elements of arithmetic, since rounded weights do not add up to 1.
    const auto sorted = internal::made_tensor(internal::widened(in_order));
    const index_t last = x.extents()[counted_from_front(Dim, x.extents().ssize())] - 1;
    const double part = !(fraction > 0) ? 0 : fraction < 1 ? fraction : 1;
    const double place = part * static_cast<double>(last);
    const auto before = static_cast<index_t>(place);
    const double rest = place - static_cast<double>(before);
    const auto at = [&](index_t i) { return squeeze<Dim>(dynamic_slice<Dim, 1>(sorted, i)); };
    // NaN comes last.
    const auto greatest = at(last);
    const auto low = at(before), high = at(rest > 0 ? before + 1 : before);
    // Weights, since the difference of two elements may overflow; equal infinities have none.
    const auto mixed = clamp(low * (1 - rest) + high * rest, low, high);
    const auto between = where(equal(low, high), low, mixed);
    return internal::narrowed<T>(where(isnan(greatest), greatest, between, given...));
  }
}
/// Returns the element in the middle of those along a dimension in order, or the mean of two:
/// `quantile<Dim>(x, 0.5)`.
///
///     auto middle = median<0>(x, across<"data">);
template <int Dim, NamedOperand X, internal::Terms... Given>
[[nodiscard]] constexpr auto median(const X& x, const Given&... given) {
  return quantile<Dim>(x, 0.5, given...);
}

}  // namespace shardwise
