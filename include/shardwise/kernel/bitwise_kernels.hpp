// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/arithmetic_kernels.hpp"
#include "shardwise/operation/bitwise.hpp"

#include <limits>
#include <type_traits>

namespace shardwise {

template <>
struct kernel<functions::bitwise_and> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
template <>
struct kernel<functions::bitwise_or> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
template <>
struct kernel<functions::bitwise_xor> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};
template <>
struct kernel<functions::bitwise_not> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T x) noexcept {
    return static_cast<T>(~x);
  }
};

namespace detail {
/// Returns true for valid shift counts: others are undefined behaviour.
template <class T>
[[nodiscard]] constexpr bool is_place(T count) noexcept {
  return count >= T{} && static_cast<std::make_unsigned_t<T>>(count) <
                             std::numeric_limits<std::make_unsigned_t<T>>::digits;
}
}  // namespace detail

template <>
struct kernel<functions::left_shift> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    if (!detail::is_place(b)) return T{};
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(static_cast<bits>(a) << static_cast<int>(b)));
  }
};
template <>
struct kernel<functions::right_shift> {
  template <class Result, class T>
  [[nodiscard]] static Result of(T a, T b) noexcept {
    if (!detail::is_place(b)) return static_cast<T>(a < T{} ? -1 : 0);
    return static_cast<T>(a >> static_cast<int>(b));
  }
};

}  // namespace shardwise
