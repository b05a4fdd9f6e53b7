// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/rounding.hpp"

#include <cmath>
#include <concepts>
#include <limits>

namespace shardwise {

/// Exact, one element at a time. Integers do not change.
template <>
struct kernel<functions::floor> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    if constexpr (std::integral<T>)
      return x;
    else
      return std::floor(x);
  }
};
template <>
struct kernel<functions::ceil> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    if constexpr (std::integral<T>)
      return x;
    else
      return std::ceil(x);
  }
};
template <>
struct kernel<functions::trunc> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    if constexpr (std::integral<T>)
      return x;
    else
      return std::trunc(x);
  }
};
/// Ties to even, the rounding mode of all arithmetic here.
template <>
struct kernel<functions::round> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    if constexpr (std::integral<T>)
      return x;
    else
      return std::nearbyint(x);
  }
};
/// Also on packets.
template <>
struct kernel<functions::sign> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    // Compilers select by conditions in registers for them, which functions on packets cannot.
    const P zero = all_lanes<P>(0), one = all_lanes<P>(1);
    if constexpr (std::integral<P>) {
      return kernel<functions::subtract>::run(x > zero ? one : zero, x < zero ? one : zero);
    } else if constexpr (requires { x > zero ? one : x; }) {
      const P value = x > zero ? one : x < zero ? -one : zero;
      return x == x ? value : x;
    } else {
      const P value = kernel<functions::subtract>::run(kernel<functions::less>::run(zero, x),
                                                       kernel<functions::less>::run(x, zero));
      return kernel<functions::where>::run(kernel<functions::equal>::run(x, x), value, x);
    }
  }
};
template <>
struct kernel<functions::fmod> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    if constexpr (std::integral<T>) {
      // Hardware traps for both.
      if (b == T{}) return T{};
      if constexpr (std::signed_integral<T>)
        if (b == T{-1}) return T{};
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

/// Exact except for the addition that gives a remainder the sign of the divisor.
template <>
struct kernel<functions::remainder> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    if constexpr (std::integral<T>) {
      const T rest = kernel<functions::fmod>::of<T>(a, b);
      return rest != T{} && (rest < T{}) != (b < T{}) ? static_cast<T>(rest + b) : rest;
    } else {
      const T rest = std::fmod(a, b);
      if (rest == T{}) return std::copysign(T{}, b);
      return (rest < T{}) != (b < T{}) ? rest + b : rest;
    }
  }
};

/// The floor of the quotient, as `//` in Python and NumPy.
template <>
struct kernel<functions::floor_divide> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    const T rest = kernel<functions::fmod>::of<T>(a, b);
    const bool is_below = rest != T{} && (rest < T{}) != (b < T{});
    if constexpr (std::integral<T>) {
      const T quotient = kernel<functions::divide>::run(a, b);
      return is_below ? static_cast<T>(quotient - 1) : quotient;
    } else {
      if (b == T{}) return a / b;
      // A whole number but for rounding.
      const T quotient = std::nearbyint((a - rest) / b) - (is_below ? T{1} : T{0});
      return quotient == T{} ? std::copysign(quotient, a / b) : quotient;
    }
  }
};

/// Integers are finite numbers.
template <>
struct kernel<functions::isnan> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return x != x;
  }
};
template <>
struct kernel<functions::isinf> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    if constexpr (std::integral<T>)
      return false;
    else
      return std::fabs(x) == std::numeric_limits<T>::infinity();
  }
};
template <>
struct kernel<functions::isfinite> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    if constexpr (std::integral<T>)
      return true;
    else
      return std::fabs(x) <= std::numeric_limits<T>::max();
  }
};

}  // namespace shardwise
