// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernel.hpp"
#include "shardwise/operation/exponential.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

namespace shardwise {

namespace detail {

/// A quotient of two polynomials, with coefficients in descending order.
template <std::size_t N>
struct rational {
  double above[N];
  double below[N];

  [[nodiscard]] double operator()(double x) const noexcept {
    double a = 0, b = 0;
    for (std::size_t i = 0; i < N; ++i) {
      a = a * x + above[i];
      b = b * x + below[i];
    }
    return a / b;
  }
};

/// Returns the inverse of the error function, by the approximations of the quantiles of the normal
/// distribution of Wichura, algorithm AS 241 (1988): one in the middle, two near the ends.
[[nodiscard]] inline double erfinv_of(double x) noexcept {
  static constexpr rational<8> middle{
      {2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4,
       4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3,
       1.3314166789178437745e+2, 3.3871328727963666080e+0},
      {5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4,
       2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2,
       4.2313330701600911252e+1, 1.0}};
  static constexpr rational<8> outer{
      {7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1,
       1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0,
       4.63033784615654529590e+0, 1.42343711074968357734e+0},
      {1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2,
       1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0,
       2.05319162663775882187e+0, 1.0}};
  static constexpr rational<8> outermost{
      {2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3,
       2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0,
       5.46378491116411436990e+0, 6.65790464350110377720e+0},
      {2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5,
       7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1,
       5.99832206555887937690e-1, 1.0}};
  constexpr double half_root = 0.70710678118654752440;
  const double size = std::abs(x);
  if (size <= 0.85) {
    const double half = x / 2;
    return x * (middle(0.180625 - half * half) * (half_root / 2));
  }
  if (!(size < 1))
    return size == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                     : std::numeric_limits<double>::quiet_NaN();
  const double tail = std::sqrt(-std::log((1 - size) / 2));
  const double found = tail <= 5 ? outer(tail - 1.6) : outermost(tail - 5);
  return std::copysign(found * half_root, x);
}

}  // namespace detail

/// Within 8 ulp.
template <>
struct kernel<functions::erfinv> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return static_cast<Result>(detail::erfinv_of(static_cast<double>(x)));
  }
};

}  // namespace shardwise
