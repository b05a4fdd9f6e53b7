// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/kernel/narrow_runs.hpp"
#include "shardwise/operation/cast.hpp"
#include "shardwise/operation/finish_gradient.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/stop_gradient.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <utility>

namespace shardwise {

namespace detail {

/// Converts a number to `float` on its way to 16 bits: truncates it, and sets the last bit if
/// anything was truncated, so that it is rounded only once.
[[nodiscard]] inline float cut_to_float(double x) noexcept {
  const auto near = static_cast<float>(x);
  const auto back = static_cast<double>(near);
  if (back == x || x != x) return near;
  const auto bits = std::bit_cast<std::uint32_t>(near);
  return std::bit_cast<float>((std::fabs(back) > std::fabs(x) ? bits - 1 : bits) | 1U);
}
[[nodiscard]] inline float cut_to_float(std::int64_t x) noexcept {
  // Bits that a double does not have are below the last bit of a float too.
  const std::int64_t low = x & 0x7FF;
  const bool exact = x >= -(std::int64_t{1} << 53) && x <= std::int64_t{1} << 53;
  return cut_to_float(static_cast<double>(exact || low == 0 ? x : x - low + 0x400));
}

}  // namespace detail

/// Conversions, and functions of `bool`, element by element. Narrow floating-point numbers are
/// loaded and stored as `float`, which holds all of their values.
template <Element To>
struct kernel<functions::cast<To>> {
  template <class Result, class From>
  [[nodiscard]] static Result of(From x) noexcept {
    if constexpr (std::same_as<To, bool>) {
      return x != From{};
    } else if constexpr (std::floating_point<From> && std::integral<To>) {
      // The conversion of a value out of range, including NaN, is undefined behaviour.
      constexpr auto above = static_cast<From>(std::numeric_limits<To>::max());
      constexpr auto below = static_cast<From>(std::numeric_limits<To>::min());
      if (!(x >= below)) return x < below ? std::numeric_limits<To>::min() : To{0};
      if (x >= above) return std::numeric_limits<To>::max();
      return static_cast<To>(x);
    } else if constexpr (Whole<From> && Whole<To>) {
      if (std::cmp_less(x, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
      if (std::cmp_greater(x, std::numeric_limits<To>::max()))
        return std::numeric_limits<To>::max();
      return static_cast<To>(x);
    } else if constexpr (sizeof(To) == 2 && std::same_as<From, double>) {
      return static_cast<To>(detail::cut_to_float(x));
    } else if constexpr (sizeof(To) == 2 && sizeof(From) >= 4 && std::integral<From>) {
      return static_cast<To>(detail::cut_to_float(std::int64_t{x}));
    } else {
      return static_cast<Result>(static_cast<To>(x));
    }
  }
  /// The same for `n` contiguous numbers that are rounded to 16 bits.
  template <class Result>
    requires Narrow<To>
  static void of_run(const float* from, index_t n, Result* to) noexcept {
    round_run<To>(from, n, to);
  }
};

template <Element To>
struct kernel<functions::rounded_terms<To>> : kernel<functions::cast<To>> {};

template <>
struct kernel<functions::logical_and> {
  template <class Result>
  [[nodiscard]] static bool of(bool a, bool b) noexcept {
    return a && b;
  }
};
template <>
struct kernel<functions::logical_or> {
  template <class Result>
  [[nodiscard]] static bool of(bool a, bool b) noexcept {
    return a || b;
  }
};
template <>
struct kernel<functions::logical_xor> {
  template <class Result>
  [[nodiscard]] static bool of(bool a, bool b) noexcept {
    return a != b;
  }
};
template <>
struct kernel<functions::logical_not> {
  template <class Result>
  [[nodiscard]] static bool of(bool a) noexcept {
    return !a;
  }
};

template <>
struct kernel<functions::stop_gradient> : kernel<functions::identity> {};
template <>
struct kernel<functions::finish_gradient> : kernel<functions::identity> {};

}  // namespace shardwise
