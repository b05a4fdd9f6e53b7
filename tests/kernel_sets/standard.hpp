// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

/// The errors that the kernels of functions of the standard library state, in ulp.
namespace kernel_sets {

/// The inverse of the error function, by Newton's method on its complement's logarithm where that
/// is small.
inline long double erfinv_by_newton(long double v) {
  using real = long double;
  constexpr real half_root = 0.886226925452758013649083741670572591L;  // of pi
  const real tail = 1 - std::fabs(v);
  if (!(tail > 0)) return tail == 0 ? std::copysign(std::numeric_limits<real>::infinity(), v) : NAN;
  real root = tail < 0.5L ? std::sqrt(-std::log(tail)) : std::fabs(v) * half_root;
  for (int i = 0; i < 8; ++i) {
    const real slope = std::exp(-root * root) / half_root;
    if (tail < 0.5L)
      root += (std::log(std::erfc(root)) - std::log(tail)) * std::erfc(root) / slope;
    else
      root -= (std::erf(root) - std::fabs(v)) / slope;
  }
  return std::copysign(root, v);
}
/// The derivative of the logarithm of the gamma function, by its series at large numbers.
inline long double digamma_by_series(long double v) {
  using real = long double;
  constexpr real pi = 3.141592653589793238462643383279502884L;
  if (v == 0) return -std::copysign(std::numeric_limits<real>::infinity(), v);
  if (v == -std::numeric_limits<real>::infinity()) return NAN;
  real sum = 0, at = v;
  if (v < 0) {
    const real beyond = v - std::nearbyint(v);
    if (beyond == 0) return NAN;
    sum = -pi / std::tan(pi * beyond);
    at = 1 - v;
  }
  for (; at < 40; at += 1) sum -= 1 / at;
  const real s = 1 / (at * at);
  const real series = 1 / 12.0L - s * (1 / 120.0L - s * (1 / 252.0L - s * (1 / 240.0L - s / 132)));
  return sum + (std::log(at) - 1 / (2 * at) - s * series);
}

template <class T>
void check_standard() {
  using real = long double;
  const auto of_value = [](auto f) {
    return [f](real v) {
      const real value = f(v);
      return expected{value, value};
    };
  };
  const auto of_number = [](auto f) { return [f](real v) { return expected{f(v), v}; }; };
  const auto one = [&]<class F>(F, double allowed, auto f) {
    check_each<F, T>(allowed, of_value(f));
  };
  one(g::sin{}, 1, [](real v) { return std::sin(v); });
  one(g::cos{}, 1, [](real v) { return std::cos(v); });
  one(g::tan{}, 1.5, [](real v) { return std::tan(v); });
  one(g::asin{}, 1, [](real v) { return std::asin(v); });
  one(g::acos{}, 1, [](real v) { return std::acos(v); });
  one(g::atan{}, 1, [](real v) { return std::atan(v); });
  one(g::sinh{}, 2.5, [](real v) { return std::sinh(v); });
  one(g::cosh{}, 2.5, [](real v) { return std::cosh(v); });
  one(g::asinh{}, 2.5, [](real v) { return std::asinh(v); });
  one(g::acosh{}, 3, [](real v) { return std::acosh(v); });
  one(g::atanh{}, 2.5, [](real v) { return std::atanh(v); });
  one(g::exp2{}, 1, [](real v) { return std::exp2(v); });
  one(g::expm1{}, 1, [](real v) { return std::expm1(v); });
  one(g::log1p{}, 2, [](real v) { return std::log1p(v); });
  one(g::log2{}, 2, [](real v) { return std::log2(v); });
  one(g::log10{}, 2.5, [](real v) { return std::log10(v); });
  one(g::cbrt{}, 4, [](real v) { return std::cbrt(v); });
  one(g::erf{}, 1, [](real v) { return std::erf(v); });
  one(g::erfc{}, 5.5, [](real v) { return std::erfc(v); });
  one(g::lgamma{}, 5, [](real v) { return std::lgamma(v); });
  one(g::erfinv{}, 8, erfinv_by_newton);
  check_each<g::digamma, T>(8, [](real v) {
    const real value = digamma_by_series(v);
    return expected{value, std::max({std::fabs(value), 1.0L, v < 0 ? std::log(-v) : 0.0L})};
  });
  check_each<g::gelu_exact, T>(3.5, of_number([](real v) {
                                 if (std::isinf(v)) return v > 0 ? v : -0.0L;
                                 return v / 2 *
                                        std::erfc(v * -0.707106781186547524400844362104849039L);
                               }));
  check_each<g::softplus, T>(2.5, [](real v) {
    const real value = std::max(v, 0.0L) + std::log1p(std::exp(-std::fabs(v)));
    return expected{value, std::max(value, 1.0L)};
  });
  check_each<g::floor, T>(0, of_value([](real v) { return std::floor(v); }));
  check_each<g::ceil, T>(0, of_value([](real v) { return std::ceil(v); }));
  check_each<g::trunc, T>(0, of_value([](real v) { return std::trunc(v); }));
  check_each<g::round, T>(0, of_value([](real v) { return std::nearbyint(v); }));
}

}  // namespace kernel_sets
