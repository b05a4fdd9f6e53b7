// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "checks.hpp"

/// The errors of the functions that are not exact, over all numbers of their type.
namespace kernel_sets {

namespace g = shardwise::functions;

/// Calls `visit` with numbers of all magnitudes, and more of them where functions bend.
template <class T, class Visit>
void for_each_number(Visit visit) {
  for (T number : numbers<T>(1000)) visit(number);
  if constexpr (sizeof(T) == 4) {
    for (std::uint64_t i = 0; i <= 0xffffffffU; i += 1009)
      visit(std::bit_cast<T>(static_cast<std::uint32_t>(i)));
  } else {
    std::mt19937_64 random(11);
    for (std::uint64_t exponent = 0; exponent < 2047; ++exponent)
      for (int i = 0; i < 60; ++i)
        visit(std::bit_cast<T>(exponent << 52 | (random() & 0x800fffffffffffffU)));
  }
  for (int i = 0; i <= 200000; ++i) {
    visit(static_cast<T>(-750 + i * 0.0075));
    visit(static_cast<T>(-10 + i * 0.0001));
    visit(static_cast<T>(0.5 + i * 0.00001));
  }
}

/// What a function is at a number, and the number whose last place its error is counted in.
struct expected {
  long double value;
  long double scale;
};

/// Checks a function of single elements, which has no packets. Where the result is subnormal or its
/// scale is, its last place is that of the least normal number.
template <class F, class T, class Exact>
void check_each(double allowed, Exact exact) {
  double worst = 0;
  T where = 0;
  unsigned skip = 0;
  for_each_number<T>([&](T number) {
    // One of many functions: a sample of the numbers is enough.
    if (++skip % 5 != 0) return;
    const expected e = exact(static_cast<long double>(number));
    const double error = distance(shardwise::kernel<F>::template of<T>(number), e.value, e.scale);
    if (error > worst) worst = error, where = number;
  });
  std::printf("%-10s f%zu  elements %6.3g ulp (at %.9g)  allowed %g\n", F::symbol.data(),
              8 * sizeof(T), worst, static_cast<double>(where), allowed);
  if (!(worst <= allowed)) fail("error", F::symbol.data(), where, worst);
}

/// Checks one function on packets and on scalars. Where the result is subnormal, 0 will do.
template <class F, class T, class Exact>
void check_error(double allowed, Exact exact) {
  constexpr std::size_t width = lanes<T>;
  T in[width], out[width];
  std::size_t pending = 0;
  double worst = 0, worst_scalar = 0;
  T where = 0;
  const auto error = [&](T number, T result) {
    const expected e = exact(static_cast<long double>(number));
    const bool tiny = std::fabs(e.value) < static_cast<long double>(std::numeric_limits<T>::min());
    // A zero result has the sign of the exact value.
    if (e.value == 0 && !std::isnan(e.value) && std::signbit(result) != std::signbit(e.value))
      fail("sign of zero", F::symbol.data(), number, result);
    if (tiny && result == 0) return 0.0;
    return distance(result, e.value, e.scale);
  };
  for_each_number<T>([&](T number) {
    in[pending++] = number;
    worst_scalar = std::max(worst_scalar, error(number, shardwise::kernel<F>::run(number)));
    if (pending < width) return;
    pending = 0;
    run_packet<F, T>(out, in);
    for (std::size_t i = 0; i < width; ++i) {
      const double e = error(in[i], out[i]);
      if (e > worst) worst = e, where = in[i];
    }
  });
  std::printf("%-8s f%zu  packets %6.3g ulp (at %.9g)  scalars %6.3g ulp  allowed %g\n",
              F::symbol.data(), 8 * sizeof(T), worst, static_cast<double>(where), worst_scalar,
              allowed);
  if (!(worst <= allowed)) fail("error in packets", F::symbol.data(), where, worst);
  if (!(worst_scalar <= allowed)) fail("error in scalars", F::symbol.data(), worst_scalar);
}

}  // namespace kernel_sets
