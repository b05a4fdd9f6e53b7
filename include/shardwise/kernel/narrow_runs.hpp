// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/half.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/kernel/element_runs.hpp"
#include "shardwise/kernel/in_register.hpp"

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

/// As many numbers of `T` as a vector of 16-bit lanes has, in two vectors of words: the 16 bits
/// where the conversion has them, or a `float`. Conversions are computed on vectors rather than
/// left to compilers, which do not vectorise them at every level of optimisation.
template <Narrow T>
class narrow_lanes {
 public:
  static constexpr auto count = static_cast<index_t>(permuted_bytes / 2);

  void load(const T* from) noexcept {
    halves all;
    std::memcpy(&all, from, sizeof all);
    spread(all, std::make_index_sequence<lanes>{});
  }
  void store(T* to) const noexcept {
    const halves all = packed(std::make_index_sequence<lanes>{});
    std::memcpy(static_cast<void*>(to), &all, sizeof all);
  }
  void load(const float* from) noexcept {
    std::memcpy(&low_, from, sizeof low_);
    std::memcpy(&high_, from + count / 2, sizeof high_);
    in_register(low_);
    in_register(high_);
  }
  void store(float* to) const noexcept {
    std::memcpy(to, &low_, sizeof low_);
    std::memcpy(to + count / 2, &high_, sizeof high_);
  }

  void widen() noexcept {
    low_ = conversion::template widen<floats>(low_);
    high_ = conversion::template widen<floats>(high_);
  }
  void narrow() noexcept {
    low_ = conversion::template narrow<floats>(low_);
    high_ = conversion::template narrow<floats>(high_);
  }
  /// Clears the bits that narrow numbers do not have.
  void clear_others() noexcept {
    low_ &= 0xFFFFU << conversion::place;
    high_ &= 0xFFFFU << conversion::place;
  }

 private:
  using conversion = typename T::conversion;
  static constexpr std::size_t lanes = permuted_bytes / 2;
  typedef std::uint16_t halves __attribute__((vector_size(permuted_bytes)));
  typedef std::uint32_t words __attribute__((vector_size(permuted_bytes)));
  typedef float floats __attribute__((vector_size(permuted_bytes)));

  /// Which half of a word the 16 bits are, in the order of memory.
  static constexpr std::size_t half =
      (conversion::place == 0) == (std::endian::native == std::endian::little) ? 0 : 1;

  template <std::size_t... I>
  void spread(const halves& all, std::index_sequence<I...>) noexcept {
    low_ = reinterpret_cast<words>(
        __builtin_shufflevector(all, halves{}, (I % 2 == half ? I / 2 : lanes + I / 2)...));
    high_ = reinterpret_cast<words>(__builtin_shufflevector(
        all, halves{}, (I % 2 == half ? (lanes + I) / 2 : lanes + I / 2)...));
  }
  template <std::size_t... I>
  [[nodiscard]] halves packed(std::index_sequence<I...>) const noexcept {
    return __builtin_shufflevector(reinterpret_cast<halves>(low_), reinterpret_cast<halves>(high_),
                                   (2 * I + half)...);
  }

  words low_, high_;
};

/// Converts `n` contiguous numbers: `convert(lanes)` as many as a vector has, the rest one by one,
/// by way of `T`.
template <Narrow T, class From, class To, class Convert>
void convert_run(const From* from, index_t n, To* to, const Convert& convert) noexcept {
  narrow_lanes<T> numbers;
  const index_t whole = n - n % numbers.count;
  for (index_t i = 0; i < whole; i += numbers.count) {
    numbers.load(from + i);
    convert(numbers);
    numbers.store(to + i);
  }
  for (index_t i = whole; i < n; ++i) to[i] = T(from[i]);
}

}  // namespace detail

/// Converts `n` contiguous numbers to `float`, exactly.
template <Narrow T>
void widen_run(const T* from, index_t n, float* to) noexcept {
  detail::convert_run<T>(from, n, to, [](auto& numbers) { numbers.widen(); });
}

/// Converts `n` contiguous numbers from `float`, rounded to nearest.
template <Narrow T>
void narrow_run(const float* from, index_t n, T* to) noexcept {
  detail::convert_run<T>(from, n, to, [](auto& numbers) { numbers.narrow(); });
}

/// Rounds `n` contiguous numbers to those that `T` has; `to` may be `from`.
template <Narrow T>
void round_run(const float* from, index_t n, float* to) noexcept {
  detail::convert_run<T>(from, n, to, [](auto& numbers) {
    numbers.narrow();
    numbers.clear_others();
    numbers.widen();
  });
}

}  // namespace shardwise
