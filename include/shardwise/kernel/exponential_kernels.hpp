// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/transcendental_kernels.hpp"
#include "shardwise/operation/exponential.hpp"

#include <cmath>

namespace shardwise {

/// Powers and logarithms use the standard library, one element at a time; see
/// `trigonometric_kernels.hpp`.
template <>
struct kernel<functions::exp2> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::exp2(x);
  }
};
template <>
struct kernel<functions::expm1> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::expm1(x);
  }
};
/// Within 2 ulp.
template <>
struct kernel<functions::log1p> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::log1p(x);
  }
};
/// Within 2 ulp.
template <>
struct kernel<functions::log2> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::log2(x);
  }
};
/// Within 2.5 ulp.
template <>
struct kernel<functions::log10> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::log10(x);
  }
};
template <>
struct kernel<functions::pow> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x, T y) noexcept {
    return std::pow(x, y);
  }
};
/// Within 4 ulp.
template <>
struct kernel<functions::cbrt> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::cbrt(x);
  }
};
template <>
struct kernel<functions::erf> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::erf(x);
  }
};
/// Within 5.5 ulp.
template <>
struct kernel<functions::erfc> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return std::erfc(x);
  }
};
/// Within 2 ulp of the larger of the result and 1; the result for two equal infinities is the same
/// infinity.
template <>
struct kernel<functions::logaddexp> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    // Equal infinities have no difference.
    if (a == b) return a + static_cast<T>(0.69314718055994530942);
    const T least = a < b ? a : b;
    const T most = a < b ? b : a;
    if (!(least <= most)) return a + b;
    return most + std::log1p(std::exp(least - most));
  }
};

/// The quotient is rounded once: the same bits on every machine.
template <>
struct kernel<functions::reciprocal> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    return kernel<functions::divide>::run(all_lanes<P>(1), x);
  }
};

/// Root and quotient are each rounded once, which is within 1.5 ulp.
template <>
struct kernel<functions::rsqrt> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    return kernel<functions::divide>::run(all_lanes<P>(1), kernel<functions::sqrt>::run(x));
  }
};

}  // namespace shardwise
