// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/function_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

/// What the checks of one instruction set share: numbers, bits, errors, and the count of failures.
namespace kernel_sets {

inline int failures = 0;

/// Counts a failure and shows the first few of each function.
template <class... Numbers>
void fail(const char* what, const char* function, Numbers... numbers) {
  static const char* last = nullptr;
  static int shown = 0;
  ++failures;
  if (last != function) last = function, shown = 0;
  if (++shown > 3) return;
  std::printf("FAILED: %s: %s:", function, what);
  (std::printf(" %a", static_cast<double>(numbers)), ...);
  std::printf("\n");
}

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
using packet_of = typename Eigen::internal::packet_traits<T>::type;
template <class T>
inline constexpr std::size_t lanes = sizeof(packet_of<T>) / sizeof(T);

template <class T>
[[nodiscard]] bits_of<T> bits(T number) {
  return std::bit_cast<bits_of<T>>(number);
}
template <class T>
[[nodiscard]] bool is_nan(T number) {
  return number != number;
}

/// Ends, zeros of both signs, subnormal numbers, infinities and NaNs, one of which signals; then as
/// many others of any bits.
template <class T>
[[nodiscard]] std::vector<T> numbers(std::size_t others) {
  using limits = std::numeric_limits<T>;
  std::vector<T> all;
  for (T number :
       {T(0), T(1), T(2), T(3), T(0.1), T(88.5), limits::max(), limits::min(), limits::epsilon(),
        limits::denorm_min(), limits::min() - limits::denorm_min(), limits::infinity(),
        limits::quiet_NaN(), std::bit_cast<T>(bits(limits::infinity()) + 5)}) {
    all.push_back(number);
    all.push_back(std::bit_cast<T>(bits(number) ^ bits(T(-0.0))));
  }
  std::mt19937_64 random(7);
  for (std::size_t i = 0; i < others; ++i)
    all.push_back(std::bit_cast<T>(static_cast<bits_of<T>>(random())));
  for (std::size_t i = 0; i < others; ++i)
    all.push_back(static_cast<T>(static_cast<double>(random() % 4000000) * 1e-6 - 2));
  return all;
}

/// The results of a function in all lanes of a packet at once: `out[i] = f(in[i]...)`.
template <class F, class T, class... In>
void run_packet(T* out, const In*... in) {
  namespace packet = Eigen::internal;
  packet::pstoreu(
      out, shardwise::kernel<F>::run(packet::ploadu<packet_of<T>>(static_cast<const T*>(in))...));
}

/// The distance of a result from the exact one in units of the last place of `scale`; none between
/// numbers that the comparison calls equal or both are no numbers.
template <class T>
[[nodiscard]] double distance(T result, long double exact, long double scale) {
  using limits = std::numeric_limits<T>;
  if (std::isnan(exact) || is_nan(result)) return std::isnan(exact) && is_nan(result) ? 0 : 1e30;
  if (static_cast<long double>(result) == exact) return 0;
  // Numbers at least half a unit above the greatest round to infinity.
  if (std::isinf(result)) return static_cast<T>(exact) == result ? 0 : 1e30;
  if (std::isinf(exact)) return 1e30;
  int exponent = 0;
  (void)std::frexp(scale, &exponent);
  if (scale == 0 || exponent < limits::min_exponent) exponent = limits::min_exponent;
  return static_cast<double>(std::fabs(static_cast<long double>(result) - exact) /
                             std::ldexp(1.0L, exponent - limits::digits));
}

}  // namespace kernel_sets
