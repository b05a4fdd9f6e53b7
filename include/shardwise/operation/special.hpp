// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/rounding.hpp"
#include "shardwise/operation/transcendental.hpp"
#include "shardwise/operation/trigonometric.hpp"

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace functions {

/// The derivatives are NaN where both operands are 0.
struct hypot : fractional_function<"hypot", 6> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) {
    const auto length = detail::finite(at, at.result());
    at.give(0, at.cotangent() * (detail::finite(at, at.operand(0)) / length));
    at.give(1, at.cotangent() * (detail::finite(at, at.operand(1)) / length));
  }
};
/// The derivative at 0 is 0; the second operand only gives a sign.
struct copysign : fractional_function<"copysign", 1> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sign>>;
  static constexpr void gradient(auto& at) {
    const auto turn = elementwise<sign>(at.operand(0)) * elementwise<sign>(at.result());
    at.give(0, at.cotangent() * turn);
  }
};
/// The derivatives are those of the product, also where the first operand is 0.
struct xlogy : fractional_function<"xlogy", 9> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<log>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<log>(at.operand(1)));
    at.give(1, at.cotangent() * at.operand(0) / at.operand(1));
  }
};

}  // namespace functions

/// Returns `sqrt(a^2 + b^2)` without overflow or underflow of the squares.
///
///     auto length = hypot(x, y);
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::hypot, A, B, Given...> hypot(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::hypot>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the magnitude of `a` with the sign of `b`; zeros and NaNs have signs too.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::copysign, A, B, Given...> copysign(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::copysign>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns `x log(y)`, and 0 where `x` is 0 and `y` is not NaN: a term of an entropy.
///
///     auto entropy = -sum<1>(xlogy(p, p));
template <class X, class Y, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::xlogy, X, Y, Given...> xlogy(
    X&& x, Y&& y, const Given&... given) {
  return elementwise<functions::xlogy>(std::forward<X>(x), std::forward<Y>(y), given...);
}

namespace internal {

/// Returns values times their weights. A weight of 0 leaves nothing of its value, also of an
/// infinite one, and the cotangent of that is 0.
template <class X, class Weights>
[[nodiscard]] constexpr auto weighted(const X& x, const Weights& weights) {
  return masked(x, logical_or(isfinite(x), not_equal(weights, 0))) * weights;
}

}  // namespace internal

/// Converts degrees to radians.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto deg2rad(X&& x, const Given&... given) {
  return multiply(std::forward<X>(x), 0.017453292519943295, given...);
}
/// Converts radians to degrees.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto rad2deg(X&& x, const Given&... given) {
  return multiply(std::forward<X>(x), 57.295779513082323, given...);
}

/// Returns `log(p / (1 - p))`, the inverse of `sigmoid`.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto logit(const X& p, const Given&... given) {
  return subtract(
      log(p, internal::without_request(given)...),
      log1p(negate(p, internal::without_request(given)...), internal::without_request(given)...),
      given...);
}

namespace detail {

/// The series of `sinc` at the square of its operand: `(-pi^2)^k / (2 k + 1)!`.
inline constexpr double sinc_terms[] = {1,
                                        -1.6449340668482264,
                                        0.81174242528335364,
                                        -0.19075182412208421,
                                        0.026147847817654800,
                                        -0.0023460810354558237,
                                        0.00014842879303107100};

/// Returns a polynomial of a tensor, whose coefficients are in ascending order.
template <std::size_t Degree = 0, std::size_t Terms, class X, internal::Terms... Given>
[[nodiscard]] constexpr auto polynomial(const double (&terms)[Terms], const X& x,
                                        const Given&... given) {
  if constexpr (Degree + 2 == Terms)
    return add(multiply(x, terms[Degree + 1], given...), terms[Degree], given...);
  else
    return add(multiply(x, polynomial<Degree + 1>(terms, x, given...), given...), terms[Degree],
               given...);
}

}  // namespace detail

/// Returns `sin(pi x) / (pi x)`, and 1 at 0.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto sinc(const X& x, const Given&... given) {
  // Near 0, where the slope of the quotient would be a difference of numbers close to each other,
  // it is a series. Each formula is computed of a bounded number where the other is chosen.
  const auto square_of = multiply(x, x, internal::without_request(given)...);
  const auto bounded = minimum(square_of, 0.0625, internal::without_request(given)...);
  const auto angle = multiply(maximum(abs(x, internal::without_request(given)...), 0.0625,
                                      internal::without_request(given)...),
                              3.141592653589793, internal::without_request(given)...);
  return where(
      elementwise<functions::less>(square_of, 0.015625, internal::without_request(given)...),
      detail::polynomial(detail::sinc_terms, bounded, internal::without_request(given)...),
      divide(sin(angle, internal::without_request(given)...), angle,
             internal::without_request(given)...),
      given...);
}

/// Returns 0 below 0, 1 above it, and `middle` at 0; NaN for NaN.
///
///     auto y = heaviside(x, 0.5F);
template <class X, class Middle, internal::Terms... Given>
  requires ElementwiseOperands<X, Middle>
[[nodiscard]] constexpr auto heaviside(const X& operand, Middle&& middle, const Given&... given) {
  const auto& x = internal::beside<functions::equal>(middle, operand);
  return where(equal(x, 0, internal::without_request(given)...), std::forward<Middle>(middle),
               clamp(sign(x, internal::without_request(given)...), 0, 1,
                     internal::without_request(given)...),
               given...);
}

}  // namespace shardwise
