// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/transcendental.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Has no gradient.
struct digamma : fractional_function<"digamma", 40> {
  static constexpr bool on_elements = true;
};
struct lgamma : fractional_function<"lgamma", 30> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<digamma>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<digamma>(at.operand(0)));
  }
};

}  // namespace functions

/// Returns the logarithm of the absolute value of the gamma function: infinite at 0 and at negative
/// integers.
///
///     auto log_factorial = lgamma(count + 1.0F);
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::lgamma, A, Given...> lgamma(
    A&& a, const Given&... given) {
  return elementwise<functions::lgamma>(std::forward<A>(a), given...);
}
/// Returns the derivative of `lgamma`: infinite at 0, with the opposite sign; NaN at negative
/// integers. It cannot be differentiated.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::digamma, A, Given...> digamma(
    A&& a, const Given&... given) {
  return elementwise<functions::digamma>(std::forward<A>(a), given...);
}

}  // namespace shardwise
