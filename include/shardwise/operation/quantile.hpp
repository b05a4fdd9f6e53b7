// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/dynamic_slice.hpp"
#include "shardwise/operation/sort.hpp"
#include "shardwise/operation/squeeze.hpp"

namespace shardwise {

/// Returns the number below which a fraction of the elements along a dimension are: interpolated
/// linearly between two of them in order, as NumPy does by default; NaN if any element is. The
/// fraction is clamped to [0, 1].
///
/// The dimension must not be split, or is gathered over permitted axes.
///
///     auto high = quantile<1>(x, 0.95);              // f32[8@data, 64] -> f32[8@data]
template <int Dim, NamedOperand X, detail::Terms... Given>
[[nodiscard]] constexpr auto quantile(const X& x, double fraction, const Given&... given) {
  const auto sorted = sort<Dim>(x, detail::without_request(given)...);
  const index_t last = x.extents()[Dim] - 1;
  const double part = !(fraction > 0) ? 0 : fraction < 1 ? fraction : 1;
  const double place = part * static_cast<double>(last);
  const auto before = static_cast<index_t>(place);
  const auto at = [&](index_t i) { return squeeze<Dim>(dynamic_slice<Dim, 1>(sorted, i)); };
  // NaN comes last.
  const auto greatest = at(last);
  const auto between =
      lerp(at(before), at(before < last ? before + 1 : last), place - static_cast<double>(before));
  return where(isnan(greatest), greatest, between, given...);
}
/// Returns the element in the middle of those along a dimension in order, or the mean of two:
/// `quantile<Dim>(x, 0.5)`.
///
///     auto middle = median<0>(x, across<"data">);
template <int Dim, NamedOperand X, detail::Terms... Given>
[[nodiscard]] constexpr auto median(const X& x, const Given&... given) {
  return quantile<Dim>(x, 0.5, given...);
}

}  // namespace shardwise
