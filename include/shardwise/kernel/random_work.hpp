// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/eigen.hpp"
#include "shardwise/kernel/random_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace shardwise::internal {

/// Converts an integer below 2^52 to a double; unlike a cast, this is vectorised everywhere.
[[nodiscard]] constexpr double to_double(std::uint64_t whole) noexcept {
  return std::bit_cast<double>(whole | 0x4330000000000000U) - 0x1p52;
}

/// Returns the 26 leading bits of a number. The product of two such numbers is exact, so adding to
/// it rounds once whether or not a compiler fuses the two operations: the same bits everywhere.
/// Below, every product that is added to has this form.
[[nodiscard]] constexpr double leading(double x) noexcept {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0xFFFFFFFFF8000000U);
}

template <std::size_t N>
[[nodiscard]] constexpr double short_polynomial(double x, const double (&c)[N]) noexcept {
  double sum = c[0];
  for (std::size_t i = 1; i < N; ++i) sum = leading(sum) * x + c[i];
  return sum;
}

/// Correctly rounded roots. Compilers call the library for each root that may set errno; Eigen's
/// roots of half a packet do not, and are exact, whereas those of whole packets are estimates.
template <std::size_t N>
void square_roots(double (&x)[N]) noexcept {
  using half = typename Eigen::internal::packet_traits<double>::half;
  constexpr std::size_t lanes = sizeof(half) / sizeof(double);
  std::size_t i = 0;
  if constexpr (lanes > 1)
    for (; i + lanes <= N; i += lanes)
      Eigen::internal::pstoreu(x + i, Eigen::internal::psqrt(Eigen::internal::ploadu<half>(x + i)));
  for (; i < N; ++i) x[i] = std::sqrt(x[i]);
}

/// Random bits as the arguments of `normal_pairs`.
template <std::size_t N>
struct normal_arguments {
  double odd[N];              ///< an odd number: the radius comes from odd / 2^bits in (0, 1)
  double turn[N];             ///< the angle within its quadrant, from -1 to 1 halves of one
  std::uint32_t quadrant[N];  ///< 0 to 3; 4 is 0
};

/// Computes two independent normal numbers from each argument (Box and Muller), in `turn` and
/// `odd`. In stages of one loop each, which compilers vectorise.
template <std::size_t N>
[[gnu::noinline]] void normal_pairs(normal_arguments<N>& x, int bits) noexcept {
  for (std::size_t i = 0; i < N; ++i) {
    // odd = 2^e m with m from sqrt(1/2) to sqrt(2); log m = 2 atanh((m - 1) / (m + 1)).
    const auto pattern = std::bit_cast<std::uint64_t>(x.odd[i]);
    const std::uint64_t e = (pattern - 0x3FE6A09E667F3BCDU) >> 52U;
    const double m = std::bit_cast<double>(pattern - (e << 52U));
    const double s = (m - 1) / (m + 1), z = leading(s * s);
    const double terms[] = {2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3};
    const double log_m = leading(s) * leading(z * leading(short_polynomial(z, terms))) + 2 * s;
    constexpr double log_2 =
        0x1.62e42fefa39c0p-1;  // 47 bits: its product with a small number is exact
    x.odd[i] = -2 * ((to_double(e) - bits) * log_2 + log_m);
  }
  square_roots(x.odd);
  for (std::size_t i = 0; i < N; ++i) {
    // Sine and cosine of pi/4 turn.
    const double y = leading(x.turn[i] * x.turn[i]);
    const double sine_terms[] = {-1.7572476734434003e-09, 3.1336168903781201e-07,
                                 -3.6576204182177239e-05, 0.0024903945701927198,
                                 -0.080745512188280771,   0.78539816339744828};
    const double cosine_terms[] = {-2.4611369504941989e-08, 3.5908604485915088e-06,
                                   -0.00032599188692738996, 0.015854344243815498,
                                   -0.30842513753404244,    1};
    const double sine = x.odd[i] * (x.turn[i] * short_polynomial(y, sine_terms));
    const double cosine = x.odd[i] * short_polynomial(y, cosine_terms);
    // A quarter turn exchanges the two and flips a sign: masks instead of branches.
    const std::uint64_t quadrant = x.quadrant[i];
    const std::uint64_t swap = std::uint64_t{0} - (quadrant & 1U);
    const auto one = std::bit_cast<std::uint64_t>(cosine);
    const auto two = std::bit_cast<std::uint64_t>(sine);
    const std::uint64_t exchange = (one ^ two) & swap;
    x.turn[i] = std::bit_cast<double>(one ^ exchange ^ ((quadrant + 1) & 2U) << 62U);
    x.odd[i] = std::bit_cast<double>(two ^ exchange ^ (quadrant & 2U) << 62U);
  }
}

/// Returns argument `i` from the bits of two numbers.
template <std::size_t N>
void set_argument(normal_arguments<N>& x, std::size_t i, std::uint32_t a,
                  std::uint32_t b) noexcept {
  x.odd[i] = 2 * to_double(a) + 1;
  x.quadrant[i] = (b + 0x20000000U) >> 30U;
  x.turn[i] = static_cast<std::int32_t>(b - (x.quadrant[i] << 30U)) * 0x1p-29;
}
template <std::size_t N>
void set_argument(normal_arguments<N>& x, std::size_t i, std::uint64_t a,
                  std::uint64_t b) noexcept {
  x.odd[i] = 2 * to_double(a >> 12U) + 1;
  x.quadrant[i] = static_cast<std::uint32_t>((b + (std::uint64_t{1} << 61U)) >> 62U);
  // An arithmetic shift that is vectorised on every machine: 53 of the bits, with an offset.
  const std::uint64_t rest = b + (std::uint64_t{1} << 61U) - (std::uint64_t{x.quadrant[i]} << 62U);
  x.turn[i] = (to_double(rest >> 10U) - 0x1p51) * 0x1p-51;
}

template <std::floating_point T, std::size_t Lanes>
void normal_block(const philox<Lanes>& block, T* out) noexcept {
  const auto& w = block.words;
  constexpr std::size_t width = per_counter<T>;
  for (std::size_t k = 0; k < width; k += 2) {
    normal_arguments<Lanes> x;
    for (std::size_t i = 0; i < Lanes; ++i)
      if constexpr (sizeof(T) == 4)
        set_argument(x, i, w[k][i], w[k + 1][i]);
      else
        set_argument(x, i, join(w[0][i], w[1][i]), join(w[2][i], w[3][i]));
    normal_pairs(x, sizeof(T) == 4 ? 33 : 53);
    for (std::size_t i = 0; i < Lanes; ++i) {
      out[width * i + k] = static_cast<T>(x.turn[i]);
      out[width * i + k + 1] = static_cast<T>(x.odd[i]);
    }
  }
}

/// Fills [first, first + n) of a stream: whole blocks in place, the ends through a separate block.
template <std::floating_point T, class Block>
void fill_stream(std::uint64_t source, stream purpose, std::uint64_t first, T* out, index_t n,
                 Block block) noexcept {
  constexpr std::size_t lanes = 16, width = lanes * per_counter<T>;
  for (index_t done = 0; done < n;) {
    const std::uint64_t at = first + static_cast<std::uint64_t>(done);
    const std::uint64_t skip = at % per_counter<T>;
    const auto words = random_words<lanes>(source, purpose, at / per_counter<T>);
    const index_t run = std::min(n - done, static_cast<index_t>(width - skip));
    if (run == static_cast<index_t>(width)) {
      block(words, out + done);
    } else {
      T aside[width];
      block(words, aside);
      std::copy_n(aside + skip, run, out + done);
    }
    done += run;
  }
}

template <std::floating_point T>
void uniform_run(std::uint64_t source, std::uint64_t first, void* to, index_t n) noexcept {
  fill_stream(source, stream::uniform, first, static_cast<T*>(to), n,
              [](const auto& words, T* out) { uniform_block<T>(words, out); });
}

template <std::floating_point T>
void normal_run(std::uint64_t source, std::uint64_t first, void* to, index_t n) noexcept {
  fill_stream(source, stream::normal, first, static_cast<T*>(to), n,
              [](const auto& words, T* out) { normal_block<T>(words, out); });
}

template <std::floating_point T>
void normal_number(std::uint64_t source, std::uint64_t at, void* to) noexcept {
  T numbers[per_counter<T>]{};
  normal_block<T>(random_words<1>(source, stream::normal, at / per_counter<T>), numbers);
  *static_cast<T*>(to) = numbers[at % per_counter<T>];
}

/// Returns the kernels for a type.
template <std::floating_point T>
inline constexpr random_kernels random_kernels_of{element_of<T>, &uniform_run<T>, &normal_run<T>,
                                                  &normal_number<T>};

}  // namespace shardwise::internal
