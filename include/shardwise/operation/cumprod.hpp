// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/scan.hpp"

namespace shardwise {

/// The operations that multiply all elements up to each along a dimension, and that give the
/// largest and the least of them.
struct cumprod_operation : scan<"cumprod", reduction::product> {};
struct cummax_operation : scan<"cummax", reduction::max> {};
struct cummin_operation : scan<"cummin", reduction::min> {};

/// The same as types have them.
template <int Dim>
struct cumprod_of : applied_along<cumprod_operation, Dim> {};
template <int Dim>
struct cummax_of : applied_along<cummax_operation, Dim> {};
template <int Dim>
struct cummin_of : applied_along<cummin_operation, Dim> {};

/// The running product along a dimension, as `cumsum` sums.
///
///     auto y = cumprod<1>(x);                // f32[8@data, 4]: 1 2 3 4 becomes 1 2 6 24
template <int Dim, NamedOperand X, fixed_string... Axes>
[[nodiscard]] constexpr auto cumprod(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<cumprod_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<cumprod_of<Dim>>(permitted, static_cast<X&&>(x));
}
/// The largest element so far along a dimension; NaN from the first NaN on.
template <int Dim, NamedOperand X, fixed_string... Axes>
[[nodiscard]] constexpr auto cummax(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<cummax_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<cummax_of<Dim>>(permitted, static_cast<X&&>(x));
}
/// The least element so far along a dimension; NaN from the first NaN on.
template <int Dim, NamedOperand X, fixed_string... Axes>
[[nodiscard]] constexpr auto cummin(X&& x, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<cummin_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<cummin_of<Dim>>(permitted, static_cast<X&&>(x));
}

}  // namespace shardwise
