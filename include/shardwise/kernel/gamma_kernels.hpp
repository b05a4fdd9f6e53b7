// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernel.hpp"
#include "shardwise/operation/gamma.hpp"

#include <cmath>
#include <limits>

namespace shardwise {

namespace detail {

/// Returns the logarithm of the absolute value of the gamma function. The function of the C library
/// also sets a global variable, which is a race between threads; POSIX has one that does not.
template <class T>
[[nodiscard]] T lgamma_of(T x) noexcept {
  int sign = 0;
  if constexpr (requires { lgamma_r(x, &sign); })
    return static_cast<T>(lgamma_r(x, &sign));
  else
    return std::lgamma(x);
}

/// Returns the logarithmic derivative of the gamma function: an asymptotic series from 10 on, which
/// recurrence reaches from below, and reflection for negative numbers.
[[nodiscard]] inline double digamma_of(double x) noexcept {
  constexpr double pi = 3.14159265358979323846;
  double reflected = 0;
  if (x <= 0) {
    if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
    const double beyond = x - std::nearbyint(x);
    if (beyond == 0) return std::numeric_limits<double>::quiet_NaN();
    reflected = -pi / std::tan(pi * beyond);
    x = 1 - x;
  }
  const int steps = x < 10 ? static_cast<int>(std::ceil(10 - x)) : 0;
  double below = 0;  // the smallest terms first
  for (int i = steps; i-- > 0;) below += 1 / (x + i);
  const double large = x + steps, inverse = 1 / large, square = inverse * inverse;
  constexpr double terms[] = {1.0 / 12,  -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                              1.0 / 252, -1.0 / 120,     1.0 / 12};
  double series = 0;
  for (const double term : terms) series = series * square + term;
  return reflected + (std::log(large) - (inverse / 2 + square * series) - below);
}

}  // namespace detail

/// Within 5 ulp.
template <>
struct kernel<functions::lgamma> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return detail::lgamma_of(x);
  }
};
/// Within 8 ulp of the largest of the result, 1 and, for negative elements, the logarithm of their
/// sizes.
template <>
struct kernel<functions::digamma> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return static_cast<Result>(detail::digamma_of(static_cast<double>(x)));
  }
};

}  // namespace shardwise
