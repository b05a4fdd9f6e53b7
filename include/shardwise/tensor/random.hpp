// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/philox.hpp"
#include "shardwise/kernel/random_numbers.hpp"

#include <concepts>
#include <cstdint>

namespace shardwise {

/// Returns the number at `index` of a key's uniform numbers in [0, 1): a multiple of 2^-24, or
/// 2^-53 for double. A constant expression with the same value on every machine.
template <std::floating_point T, std::integral Index>
[[nodiscard]] constexpr T uniform(random_key source, Index index) noexcept {
  const auto at = static_cast<std::uint64_t>(index);
  T numbers[internal::per_counter<T>]{};
  internal::uniform_block<T>(internal::random_words<1>(source.value, internal::stream::uniform,
                                                       at / internal::per_counter<T>),
                             numbers);
  return numbers[at % internal::per_counter<T>];
}

/// Returns the number at `index` of a key's normal numbers with mean 0 and variance 1: the
/// Box-Muller transform of two uniform numbers. The relative error is 1e-7 for both types;
/// magnitudes are at most 6.8 for `float` and 8.6 for `double`.
///
/// The bits are the same on every compiler and machine with IEEE doubles, unless `-ffast-math` is
/// used.
template <std::floating_point T, std::integral Index>
[[nodiscard]] T normal(random_key source, Index index) noexcept {
  const auto at = static_cast<std::uint64_t>(index);
  T number;
  if constexpr (build_config::compiled)
    internal::compiled_random(element_of<T>).normal_at(source.value, at, &number);
  else
    internal::normal_number<T>(source.value, at, &number);
  return number;
}

/// Computes `out[i] = uniform<T>(source, first_index + i)` for i below `n`. 16-bit numbers are
/// those of `float`, rounded down to multiples of 2^-8 (`bfloat16`) or 2^-11 (`float16`).
template <Fractional T>
void fill_uniform(random_key source, std::uint64_t first_index, T* out, index_t n) noexcept {
  using C = compute_type<T>;
  if constexpr (build_config::compiled)
    internal::draw_as<internal::narrow_uniform>(internal::compiled_random(element_of<C>).uniform,
                                                source.value, first_index, out, n);
  else
    internal::draw_as<internal::narrow_uniform>(&internal::uniform_run<C>, source.value,
                                                first_index, out, n);
}

/// Computes `out[i] = normal<T>(source, first_index + i)` for i below `n`. 16-bit numbers are those
/// of `float`, rounded.
template <Fractional T>
void fill_normal(random_key source, std::uint64_t first_index, T* out, index_t n) noexcept {
  using C = compute_type<T>;
  if constexpr (build_config::compiled)
    internal::draw_as<internal::narrow_normal>(internal::compiled_random(element_of<C>).normal,
                                               source.value, first_index, out, n);
  else
    internal::draw_as<internal::narrow_normal>(&internal::normal_run<C>, source.value, first_index,
                                               out, n);
}

}  // namespace shardwise
