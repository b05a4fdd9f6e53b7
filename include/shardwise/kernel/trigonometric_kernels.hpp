// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/operation/trigonometric.hpp"

#include <cmath>

namespace shardwise {

/// Trigonometric and hyperbolic functions use the standard library, one element at a time: the bits
/// do not depend on the position of an element, and the accuracy is that of the library. With glibc
/// 2.31 or later, functions without a bound below are within 1 ulp.
template <>
struct kernel<functions::sin> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::sin(x);
  }
};
template <>
struct kernel<functions::cos> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::cos(x);
  }
};
/// Within 1.5 ulp.
template <>
struct kernel<functions::tan> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::tan(x);
  }
};
template <>
struct kernel<functions::asin> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::asin(x);
  }
};
template <>
struct kernel<functions::acos> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::acos(x);
  }
};
template <>
struct kernel<functions::atan> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::atan(x);
  }
};
template <>
struct kernel<functions::atan2> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T y, T x) noexcept {
    return std::atan2(y, x);
  }
};
/// Within 2.5 ulp.
template <>
struct kernel<functions::sinh> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::sinh(x);
  }
};
/// Within 2.5 ulp.
template <>
struct kernel<functions::cosh> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::cosh(x);
  }
};
/// Within 2.5 ulp.
template <>
struct kernel<functions::asinh> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::asinh(x);
  }
};
/// Within 3 ulp.
template <>
struct kernel<functions::acosh> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::acosh(x);
  }
};
/// Within 2.5 ulp.
template <>
struct kernel<functions::atanh> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::atanh(x);
  }
};

}  // namespace shardwise
