// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"

#include <utility>

namespace shardwise {

namespace functions {

struct floor : elementwise_function<"floor", linearity::nonlinear, 1> {
  static constexpr bool on_elements = true;
  static constexpr bool stops_gradient = true;
};
struct ceil : elementwise_function<"ceil", linearity::nonlinear, 1> {
  static constexpr bool on_elements = true;
  static constexpr bool stops_gradient = true;
};
struct round : elementwise_function<"round", linearity::nonlinear, 1> {
  static constexpr bool on_elements = true;
  static constexpr bool stops_gradient = true;
};
struct trunc : elementwise_function<"trunc", linearity::nonlinear, 1> {
  static constexpr bool on_elements = true;
  static constexpr bool stops_gradient = true;
};
/// Returns -1, 0 or 1; 0 for both zeros, NaN for NaN.
struct sign : elementwise_function<"sign", linearity::nonlinear, 1> {
  static constexpr bool stops_gradient = true;
};
struct floor_divide;
/// The remainder of a division that rounds down; it has the sign of the divisor.
struct remainder : elementwise_function<"remainder", linearity::nonlinear, 3> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<floor_divide>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent());
    at.give(1, -(at.cotangent() * elementwise<floor_divide>(at.operand(0), at.operand(1))));
  }
};
/// The remainder of a division that truncates; it has the sign of the first operand.
struct fmod : elementwise_function<"fmod", linearity::nonlinear, 3> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<round>>;
  static constexpr void gradient(auto& at) {
    // The result is subtracted first: the quotient x / y may be rounded up to a whole number.
    const auto multiple = at.operand(0) - at.result();
    at.give(0, at.cotangent());
    at.give(1, -(at.cotangent() * elementwise<round>(multiple / at.operand(1))));
  }
};
/// The quotient, rounded down.
struct floor_divide : elementwise_function<"floor_divide", linearity::nonlinear, 4> {
  static constexpr bool on_elements = true;
  static constexpr bool stops_gradient = true;
};

}  // namespace functions

/// Returns the largest integer that is not greater. Integer elements do not change, here and below.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::floor, A, Given...> floor(
    A&& a, const Given&... given) {
  return elementwise<functions::floor>(std::forward<A>(a), given...);
}
/// Returns the smallest integer that is not less.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::ceil, A, Given...> ceil(
    A&& a, const Given&... given) {
  return elementwise<functions::ceil>(std::forward<A>(a), given...);
}
/// Returns the nearest integer, with ties to even: 0.5 becomes 0 and 1.5 becomes 2.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::round, A, Given...> round(
    A&& a, const Given&... given) {
  return elementwise<functions::round>(std::forward<A>(a), given...);
}
/// Returns the integer part.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::trunc, A, Given...> trunc(
    A&& a, const Given&... given) {
  return elementwise<functions::trunc>(std::forward<A>(a), given...);
}
/// Returns -1, 0 or 1 for a number below, at or above 0; NaN for NaN.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::sign, A, Given...> sign(
    A&& a, const Given&... given) {
  return elementwise<functions::sign>(std::forward<A>(a), given...);
}
/// Returns the remainder of a division that rounds down, like `%` in Python and `remainder` in
/// NumPy: it has the sign of the divisor. Division by zero gives NaN, or 0 for integers.
///
///     auto hour = remainder(time, 24);          // -1 becomes 23
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::remainder, A, B, Given...> remainder(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::remainder>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the remainder of a division that truncates, like `%` in C++: it has the sign of the
/// first operand. Division by zero gives NaN, or 0 for integers.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::fmod, A, B, Given...> fmod(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::fmod>(std::forward<A>(a), std::forward<B>(b), given...);
}

/// Returns the quotient rounded down, like `//` in Python and `floor_divide` in NumPy, so that `a`
/// is `b floor_divide(a, b) + remainder(a, b)`. Division by zero gives what `/` gives: 0 for
/// integers.
///
///     auto day = floor_divide(time, 24);        // -1 becomes -1
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::floor_divide, A, B, Given...> floor_divide(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::floor_divide>(std::forward<A>(a), std::forward<B>(b), given...);
}

}  // namespace shardwise
