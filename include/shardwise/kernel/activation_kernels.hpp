// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/transcendental_kernels.hpp"
#include "shardwise/operation/activation.hpp"
#include "shardwise/operation/clamp.hpp"

#include <cmath>
#include <limits>

namespace shardwise {

template <>
struct kernel<functions::clamp> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x, const P& low, const P& high) noexcept {
    return kernel<functions::minimum>::run(kernel<functions::maximum>::run(x, low), high);
  }
};

/// NaN, which may become quiet, and -0 are kept.
template <>
struct kernel<functions::leaky_relu> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x, const P& slope) noexcept {
    const P below = kernel<functions::less>::run(x, all_lanes<P>(0));
    return kernel<functions::where>::run(below, kernel<functions::multiply>::run(slope, x), x);
  }
};

/// Within 3.5 ulp of x: relative errors are large where x is negative and the result is close to 0.
/// silu(-infinity) is -0.
template <>
struct kernel<functions::silu> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    // Infinity would be multiplied by the 0 of the sigmoid.
    constexpr double least = std::numeric_limits<detail::lane<P>>::lowest();
    const P bounded = kernel<functions::maximum>::run(x, all_lanes<P>(least));
    return kernel<functions::multiply>::run(bounded, kernel<functions::sigmoid>::run(x));
  }
};

/// Within 3.5 ulp of x, as `silu`; mish(-infinity) is -0.
template <>
struct kernel<functions::mish> {
  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    // Infinity would be multiplied by 0. Beyond 20 the factor is 1.
    constexpr double least = std::numeric_limits<detail::lane<P>>::lowest();
    const P bounded = kernel<functions::maximum>::run(x, all_lanes<P>(least));
    const P two = all_lanes<P>(2);
    const P e = kernel<functions::exp>::run(kernel<functions::minimum>::run(x, all_lanes<P>(20)));
    const P grown = detail::packet::pmul(e, detail::packet::padd(e, two));
    const P factor = detail::packet::pdiv(grown, detail::packet::padd(grown, two));
    return detail::packet::pmul(bounded, factor);
  }
};

/// The quotient of infinities has no value: those of the largest numbers are taken.
template <>
struct kernel<functions::soft_sign> {
  static constexpr bool exact = true;

  template <class P>
  [[nodiscard]] static P run(const P& x) noexcept {
    constexpr double most = std::numeric_limits<detail::lane<P>>::max();
    const P finite = kernel<functions::clamp>::run(x, all_lanes<P>(-most), all_lanes<P>(most));
    const P size = kernel<functions::abs>::run(finite);
    return kernel<functions::divide>::run(finite,
                                          kernel<functions::add>::run(size, all_lanes<P>(1)));
  }
};

/// Uses the standard library, one element at a time. Within 2.5 ulp of the result or, for x below
/// 0, of the larger of the result and 1.
template <>
struct kernel<functions::softplus> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    const T tail = std::log1p(std::exp(-std::fabs(x)));
    return x > T{} ? x + tail : x == x ? tail : x;
  }
};
/// Within 2.5 ulp for an alpha of 1.
template <>
struct kernel<functions::elu> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x, T alpha) noexcept {
    return x < T{} ? alpha * std::expm1(x) : x;
  }
};
/// Within 3.5 ulp of x; gelu_exact(-infinity) is -0.
template <>
struct kernel<functions::gelu_exact> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    // Avoids subtracting nearly equal numbers where x is negative.
    if (x < T(-64)) return -T{};
    return T(0.5) * x * std::erfc(x * T(-0.70710678118654752440));
  }
};

}  // namespace shardwise
