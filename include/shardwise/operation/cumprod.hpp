// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/cumsum.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/zero_factors.hpp"

namespace shardwise {

/// The operation that computes the product of all elements up to each one along a dimension.
struct cumprod_operation : running_operation<"cumprod", reduction::product> {
  using combination = detail::combined_by<functions::multiply>;
  using emits = emitted_operations<cumsum_operation, flip_operation, pointwise<functions::where>,
                                   pointwise<functions::logical_and>>;
  /// The products are divided by the element, unless it is 0. Those of the first 0 are computed
  /// without it. The cotangent of the second 0 is the first one times the products without both:
  /// its value is 0, but second derivatives read it.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value x = at.operand(0);
    const gradient_value zero = at.number(0, x);
    const gradient_value one = at.number(1, x);
    const auto from_here_on = [&](const gradient_value& terms) {
      const gradient_value turned = emit<flip_operation>(at.how(), terms);
      return emit<flip_operation>(at.how(), emit<cumsum_operation>(at.how(), turned));
    };
    const gradient_value is_zero = elementwise<functions::equal>(x, zero);
    const gradient_value own = zero_factors(x, is_zero);
    const gradient_value before = emit<cumsum_operation>(at.how(), own) - own;
    const auto is_zero_behind = [&](const gradient_value& count) {
      return elementwise<functions::logical_and>(is_zero,
                                                 elementwise<functions::equal>(before, count));
    };
    const gradient_value first = is_zero_behind(zero), second = is_zero_behind(one);
    const gradient_value dy = at.cotangent();
    const auto without = [&](const gradient_value& which, const gradient_value& from) {
      return elementwise<functions::where>(which, one, from);
    };
    const auto behind = [&](const gradient_value& from) {
      return from_here_on(dy * emit<cumprod_operation>(at.how(), from));
    };
    const gradient_value but_first = without(first, x);
    at.give(0, elementwise<functions::where>(
                   is_zero,
                   masked(behind(but_first), first) +
                       masked(where_finite(at, behind(without(second, but_first))) * (before + -1),
                              second),
                   from_here_on(dy * at.result()) / without(is_zero, x)));
  }
};

/// What the gradients of running extremes append. The selection of the extremes is treated as a
/// constant, so each of the two operations is the gradient of the other, `Dual`, for any order of
/// derivative.
template <fixed_string Name, reduction Kind, class Dual>
struct running_extreme : scan_gradient<Name, 2> {
  static constexpr reduction kind = Kind;

  using emits = emitted_operations<Dual>;
  static constexpr void gradient(gradient_step& at) {
    if (at.wants(1)) at.give(1, emit<Dual>(at.how(), at.operand(0), at.cotangent()));
  }
};
/// Adds each element of the second operand at the position of its running extreme, the first one of
/// equal elements.
struct cummax_share_operation;
struct cummin_share_operation;
/// Selects the element of the second operand at the position of that extreme.
struct cummax_pick_operation
    : running_extreme<"cummax_pick", reduction::max, cummax_share_operation> {};
struct cummin_pick_operation
    : running_extreme<"cummin_pick", reduction::min, cummin_share_operation> {};
struct cummax_share_operation
    : running_extreme<"cummax_share", reduction::max, cummax_pick_operation> {};
struct cummin_share_operation
    : running_extreme<"cummin_share", reduction::min, cummin_pick_operation> {};

/// The operations that compute the largest and the smallest of all elements up to each one.
struct cummax_operation : running_operation<"cummax", reduction::max> {
  using combination = detail::selected_by<functions::greater_equal>;
  using emits = emitted_operations<cummax_share_operation, cummax_pick_operation>;
  /// See `cummax_share_operation`.
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<cummax_share_operation>(at.how(), at.operand(0), at.cotangent()));
  }
};
struct cummin_operation : running_operation<"cummin", reduction::min> {
  using combination = detail::selected_by<functions::less_equal>;
  using emits = emitted_operations<cummin_share_operation, cummin_pick_operation>;
  static constexpr void gradient(gradient_step& at) {
    at.give(0, emit<cummin_share_operation>(at.how(), at.operand(0), at.cotangent()));
  }
};

/// The operations whose attributes are types.
template <int Dim>
struct cumprod_of : applied_along<cumprod_operation, Dim> {};
template <int Dim>
struct cummax_of : applied_along<cummax_operation, Dim> {};
template <int Dim>
struct cummin_of : applied_along<cummin_operation, Dim> {};

/// Returns the running product along a dimension; see `cumsum`.
///
///     auto y = cumprod<1>(x);                // f32[8@data, 4]: 1 2 3 4 becomes 1 2 6 24
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto cumprod(X&& x, Given permitted = {})
    -> decltype(detail::apply_scan<cumprod_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return detail::apply_scan<cumprod_of<Dim>>(permitted, static_cast<X&&>(x));
}
/// Returns the running maximum along a dimension, which is NaN from the first NaN on; see `cumsum`.
/// It is not rounded; which of two zeros of different sign is returned may depend on the parts.
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto cummax(X&& x, Given permitted = {})
    -> decltype(detail::apply_scan<cummax_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return detail::apply_scan<cummax_of<Dim>>(permitted, static_cast<X&&>(x));
}
/// Returns the running minimum along a dimension, like `cummax`.
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto cummin(X&& x, Given permitted = {})
    -> decltype(detail::apply_scan<cummin_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return detail::apply_scan<cummin_of<Dim>>(permitted, static_cast<X&&>(x));
}

}  // namespace shardwise
