// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace shardwise {

/// The type of every size, offset and count; signed, so that differences are safe.
using index_t = std::int64_t;

/// Stands for a size known only at run time, as in `extents<dyn, 1024>`.
inline constexpr index_t dyn = -1;

/// The highest rank of a tensor.
inline constexpr int max_rank = 8;

/// Returns the quotient rounded up; `divisor` must be positive.
///
///     static_assert(ceil_div(5, 2) == 3);
[[nodiscard]] constexpr index_t ceil_div(index_t dividend, index_t divisor) noexcept {
  return dividend / divisor + (dividend % divisor > 0 ? 1 : 0);
}

/// Returns a dimension counted from the first, in a tensor of this rank: a negative one counts from
/// the end, and -1 is the last. One that the tensor does not have is returned as it is, so that
/// errors show it.
///
///     static_assert(counted_from_front(-1, 3) == 2);
template <class Integer>
[[nodiscard]] constexpr Integer counted_from_front(Integer dim, int rank) noexcept {
  return dim < 0 && dim >= -rank ? static_cast<Integer>(dim + rank) : dim;
}

/// Calls `f.template operator()<0>()` ... `<N - 1>()` in order.
template <std::size_t N, class F>
constexpr void for_each_index(F&& f) {
  const auto each = [&]<std::size_t... I>(std::index_sequence<I...>) {
    (f.template operator()<I>(), ...);
  };
  each(std::make_index_sequence<N>{});
}

/// Byte literals: `16_MiB` is 16 * 2^20 bytes.
inline namespace literals {
[[nodiscard]] constexpr index_t operator""_KiB(unsigned long long n) noexcept {
  return static_cast<index_t>(n << 10U);
}
[[nodiscard]] constexpr index_t operator""_MiB(unsigned long long n) noexcept {
  return static_cast<index_t>(n << 20U);
}
[[nodiscard]] constexpr index_t operator""_GiB(unsigned long long n) noexcept {
  return static_cast<index_t>(n << 30U);
}
[[nodiscard]] constexpr index_t operator""_TiB(unsigned long long n) noexcept {
  return static_cast<index_t>(n << 40U);
}
}  // namespace literals

}  // namespace shardwise
