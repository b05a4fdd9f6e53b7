// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "errors.hpp"

/// The errors of functions of two numbers, in ulp.
namespace kernel_sets {

/// Checks a function at all pairs of some numbers.
template <class F, class T, class Exact>
void check_pairs(double allowed, Exact exact) {
  using real = long double;
  std::vector<T> all = numbers<T>(100);
  // A NaN that signals is one that does not when it is converted for the exact value.
  std::erase_if(all, [](T number) { return is_nan(number); });
  all.push_back(std::numeric_limits<T>::quiet_NaN());
  double worst = 0;
  T where[2] = {};
  for (const T a : all)
    for (const T b : all) {
      const real value = exact(static_cast<real>(a), static_cast<real>(b));
      const double error = distance(shardwise::kernel<F>::template of<T>(a, b), value, value);
      if (error > worst) worst = error, where[0] = a, where[1] = b;
    }
  std::printf("%-10s f%zu  pairs %6.3g ulp (at %.9g, %.9g)  allowed %g\n", F::symbol.data(),
              8 * sizeof(T), worst, static_cast<double>(where[0]), static_cast<double>(where[1]),
              allowed);
  if (!(worst <= allowed)) fail("error", F::symbol.data(), where[0], where[1], worst);
}

template <class T>
void check_functions_of_two() {
  using real = long double;
  check_pairs<g::atan2, T>(1.5, [](real a, real b) { return std::atan2(a, b); });
  check_pairs<g::pow, T>(1, [](real a, real b) { return std::pow(a, b); });
  check_pairs<g::hypot, T>(1, [](real a, real b) { return std::hypot(a, b); });
  check_pairs<g::copysign, T>(0, [](real a, real b) { return std::copysign(a, b); });
  check_pairs<g::fmod, T>(0, [](real a, real b) { return std::fmod(a, b); });
  // The exact remainder is rounded twice here.
  check_pairs<g::remainder, T>(0.51, [](real a, real b) {
    const real rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
  // That of the logarithm, as much as it is in the product, and that of the product.
  check_pairs<g::xlogy, T>(2.5,
                           [](real a, real b) { return a == 0 && b == b ? 0 : a * std::log(b); });
}

}  // namespace kernel_sets
