// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/philox.hpp"
#include "shardwise/layout/element.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace shardwise {

/// Kernels that draw random numbers of one type, float or double: `uniform` and `normal` write the
/// numbers [`first`, `first + n`) of a key to `to`; `normal_at` writes one.
struct random_kernels {
  element type = element::f32;
  void (*uniform)(std::uint64_t source, std::uint64_t first, void* to, index_t n) = nullptr;
  void (*normal)(std::uint64_t source, std::uint64_t first, void* to, index_t n) = nullptr;
  void (*normal_at)(std::uint64_t source, std::uint64_t at, void* to) = nullptr;
};

namespace internal {

/// Returns the kernels that draw numbers of a type, from the compiled library.
[[nodiscard]] const random_kernels& compiled_random(element type) noexcept;

/// The numbers of a type for each counter: a float takes one word, a double two.
template <std::floating_point T>
inline constexpr std::size_t per_counter = 16 / std::max<std::size_t>(4, sizeof(T));

/// Returns a uniform number from its bits.
[[nodiscard]] constexpr float to_uniform(std::uint32_t w) noexcept {
  return static_cast<float>(static_cast<std::int32_t>(w >> 8U)) * 0x1p-24F;
}
[[nodiscard]] constexpr double to_uniform(std::uint64_t w) noexcept {
  return static_cast<double>(static_cast<std::int64_t>(w >> 11U)) * 0x1p-53;
}

/// Computes the numbers of `Lanes` consecutive counters.
template <std::floating_point T, std::size_t Lanes>
constexpr void uniform_block(const philox<Lanes>& block, T* out) noexcept {
  const auto& w = block.words;
  for (std::size_t i = 0; i < Lanes; ++i)
    for (std::size_t k = 0; k < per_counter<T>; ++k)
      if constexpr (sizeof(T) == 4)
        out[4 * i + k] = to_uniform(w[k][i]);
      else
        out[2 * i + k] = to_uniform(join(w[2 * k][i], w[2 * k + 1][i]));
}

/// Rounds a uniform number down to as many binary digits as `T` has, 8 (`bfloat16`) or 11
/// (`float16`), so that it stays below 1.
struct narrow_uniform {
  template <class T>
  [[nodiscard]] static T as(float x) noexcept {
    constexpr auto steps = static_cast<float>(1 << std::numeric_limits<T>::digits);
    return static_cast<T>(static_cast<float>(static_cast<std::int32_t>(x * steps)) / steps);
  }
};
struct narrow_normal {
  template <class T>
  [[nodiscard]] static T as(float x) noexcept {
    return static_cast<T>(x);
  }
};

/// Draws `n` numbers from `first` on: `draw(source, first, to, n)` draws those of the type that is
/// used for arithmetic on `T`, which `Narrow` converts to narrow ones.
template <class Narrow, class T, class Draw>
void draw_as(const Draw& draw, std::uint64_t source, std::uint64_t first, T* to, index_t n) {
  using C = compute_type<T>;
  if constexpr (std::is_same_v<C, T>) {
    draw(source, first, to, n);
  } else {
    constexpr index_t most = 256;
    C wide[most];
    for (index_t done = 0; done < n; done += most) {
      const index_t part = std::min(most, n - done);
      draw(source, first + static_cast<std::uint64_t>(done), wide, part);
      std::transform(wide, wide + part, to + done, [](C x) { return Narrow::template as<T>(x); });
    }
  }
}

// The work of the kernels.
template <std::floating_point T>
void uniform_run(std::uint64_t source, std::uint64_t first, void* to, index_t n) noexcept;
template <std::floating_point T>
void normal_run(std::uint64_t source, std::uint64_t first, void* to, index_t n) noexcept;
template <std::floating_point T>
void normal_number(std::uint64_t source, std::uint64_t at, void* to) noexcept;

}  // namespace internal
}  // namespace shardwise

#if !defined(SHARDWISE_COMPILED)
#include "shardwise/kernel/random_work.hpp"
#endif
