// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/half.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/kernel/element_runs.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace shardwise {

/// A floating-point type of 16 bits, whose numbers are computed as `float`.
template <class T>
concept Narrow = std::same_as<T, bfloat16> || std::same_as<T, float16>;

namespace detail {

/// The bits of as many numbers as a vector of 16-bit lanes has, in two vectors of words: 16 bits in
/// each word, or those of a `float`. Conversions are computed on vectors rather than left to
/// compilers, which do not vectorise them at every level of optimisation.
class narrow_lanes {
 public:
  static constexpr auto count = static_cast<index_t>(permuted_bytes / 2);

  /// Reads numbers of 16 bits.
  void load(const void* from) noexcept {
    halves all;
    std::memcpy(&all, from, sizeof all);
    spread(all, std::make_index_sequence<lanes>{});
  }
  void store(void* to) const noexcept {
    const halves all = packed(std::make_index_sequence<lanes>{});
    std::memcpy(to, &all, sizeof all);
  }
  void load(const float* from) noexcept {
    std::memcpy(&low_, from, sizeof low_);
    std::memcpy(&high_, from + count / 2, sizeof high_);
  }
  void store(float* to) const noexcept {
    std::memcpy(to, &low_, sizeof low_);
    std::memcpy(to + count / 2, &high_, sizeof high_);
  }
  /// Converts numbers of `T` to `float`.
  template <Narrow T>
  void widen() noexcept {
    low_ = T::conversion::template widen<floats>(low_);
    high_ = T::conversion::template widen<floats>(high_);
  }
  /// The converse, rounded to nearest.
  template <Narrow T>
  void narrow() noexcept {
    low_ = T::conversion::template narrow<floats>(low_);
    high_ = T::conversion::template narrow<floats>(high_);
  }

 private:
  static constexpr std::size_t lanes = permuted_bytes / 2;
  typedef std::uint16_t halves __attribute__((vector_size(permuted_bytes)));
  typedef std::uint32_t words __attribute__((vector_size(permuted_bytes)));
  typedef float floats __attribute__((vector_size(permuted_bytes)));

  /// The first half of a word has its lower bits, unless the machine is big-endian.
  static constexpr std::size_t upper = std::endian::native == std::endian::little ? 1 : 0;

  template <std::size_t... I>
  void spread(const halves& all, std::index_sequence<I...>) noexcept {
    low_ = reinterpret_cast<words>(
        __builtin_shufflevector(all, halves{}, (I % 2 == upper ? lanes + I / 2 : I / 2)...));
    high_ = reinterpret_cast<words>(__builtin_shufflevector(
        all, halves{}, (I % 2 == upper ? lanes + I / 2 : (lanes + I) / 2)...));
  }
  template <std::size_t... I>
  [[nodiscard]] halves packed(std::index_sequence<I...>) const noexcept {
    return __builtin_shufflevector(reinterpret_cast<halves>(low_), reinterpret_cast<halves>(high_),
                                   (2 * I + 1 - upper)...);
  }

  words low_, high_;
};

}  // namespace detail

/// Converts `n` contiguous numbers to `float`, exactly.
template <Narrow T>
void widen_run(const T* from, index_t n, float* to) noexcept {
  detail::narrow_lanes numbers;
  const index_t whole = n - n % numbers.count;
  for (index_t i = 0; i < whole; i += numbers.count) {
    numbers.load(static_cast<const void*>(from + i));
    numbers.widen<T>();
    numbers.store(to + i);
  }
  for (index_t i = whole; i < n; ++i) to[i] = from[i];
}

/// Converts `n` contiguous numbers from `float`, rounded to nearest.
template <Narrow T>
void narrow_run(const float* from, index_t n, T* to) noexcept {
  detail::narrow_lanes numbers;
  const index_t whole = n - n % numbers.count;
  for (index_t i = 0; i < whole; i += numbers.count) {
    numbers.load(from + i);
    numbers.narrow<T>();
    numbers.store(static_cast<void*>(to + i));
  }
  for (index_t i = whole; i < n; ++i) to[i] = T(from[i]);
}

/// Rounds `n` contiguous numbers to those that `T` has; `to` may be `from`.
template <Narrow T>
void round_run(const float* from, index_t n, float* to) noexcept {
  detail::narrow_lanes numbers;
  const index_t whole = n - n % numbers.count;
  for (index_t i = 0; i < whole; i += numbers.count) {
    numbers.load(from + i);
    numbers.narrow<T>();
    numbers.widen<T>();
    numbers.store(to + i);
  }
  for (index_t i = whole; i < n; ++i) to[i] = T(from[i]);
}

}  // namespace shardwise
