// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace shardwise {

namespace detail {

/// The conversions of 16-bit formats from and to the bits of a `float`, without branches: of one
/// number, where `Words` is `std::uint32_t`, or of the lanes of a vector. The 16 bits are those of
/// a word from bit `place` on; the others are 0 before a number is widened.
struct bfloat16_bits {
  static constexpr unsigned place = 16;

  template <class Float, class Words>
  [[nodiscard]] static constexpr Words narrow(const Words& all) noexcept {
    const Words nearest = all + 0x7FFFU + (all >> 16U & 1U);
    // A NaN stays a quiet NaN, whatever bits are lost.
    const Words quiet = all | 0x400000U;
    return (all & 0x7FFFFFFFU) > 0x7F800000U ? quiet : nearest;
  }
  template <class Float, class Words>
  [[nodiscard]] static constexpr Words widen(const Words& bits) noexcept {
    return bits;
  }
};
struct float16_bits {
  static constexpr unsigned place = 0;

  template <class Float, class Words>
  [[nodiscard]] static constexpr Words narrow(const Words& all) noexcept {
    const Words size = all & 0x7FFFFFFFU;
    const Words zero = size & 0U;
    const Words quiet = (size >> 13U & 0x3FFU) | 0x7E00U;
    const Words normal = (size + 0xFFFU + (size >> 13U & 1U) - 0x38000000U) >> 13U;
    // Subnormal: after adding a half, the addition itself rounds at the position of the last bit.
    const Words small = size < 0x38800000U ? size : zero;
    const Float shifted = std::bit_cast<Float>(small) + 0.5F;
    const Words subnormal = std::bit_cast<Words>(shifted) - 0x3F000000U;
    const Words finite = size < 0x38800000U ? subnormal : normal;
    const Words number = size >= 0x477FF000U ? zero + 0x7C00U : finite;
    return (all >> 16U & 0x8000U) | (size > 0x7F800000U ? quiet : number);
  }
  template <class Float, class Words>
  [[nodiscard]] static constexpr Words widen(const Words& bits) noexcept {
    const Words size = bits & 0x7FFFU;
    const Words infinite = (size & 0x3FFU) << 13U | 0x7F800000U;
    const Words normal = (size << 13U) + 0x38000000U;
    // The last bit of a subnormal number is that of numbers from a half to 1.
    const Float shifted = std::bit_cast<Float>(Words(size + 0x3F000000U)) - 0.5F;
    const Words subnormal = std::bit_cast<Words>(shifted);
    const Words finite = size >= 0x400U ? normal : subnormal;
    return (bits & 0x8000U) << 16U | (size >= 0x7C00U ? infinite : finite);
  }
};

/// Returns the 16 bits of the nearest number of a format, and the number of 16 bits.
template <class Conversion>
[[nodiscard]] constexpr std::uint16_t bits_of_nearest(float number) noexcept {
  const auto all = std::bit_cast<std::uint32_t>(number);
  return static_cast<std::uint16_t>(Conversion::template narrow<float>(all) >> Conversion::place);
}
template <class Conversion>
[[nodiscard]] constexpr float float_of_bits(std::uint16_t bits) noexcept {
  const std::uint32_t word = std::uint32_t{bits} << Conversion::place;
  return std::bit_cast<float>(Conversion::template widen<float>(word));
}

}  // namespace detail

/// The 16-bit floating-point format with the exponent of a `float` and 8 bits of precision.
/// Arithmetic converts to `float`; conversion from `float` rounds to nearest, ties to even.
///
///     static_assert(float(bfloat16(3.14159F)) == 3.140625F);
class bfloat16 {
 public:
  using conversion = detail::bfloat16_bits;

  bfloat16() = default;
  constexpr bfloat16(float number) noexcept : bits_(detail::bits_of_nearest<conversion>(number)) {}
  constexpr operator float() const noexcept { return detail::float_of_bits<conversion>(bits_); }
  [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }
  [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 number;
    number.bits_ = bits;
    return number;
  }

 private:
  std::uint16_t bits_ = 0;
};

/// The 16-bit floating-point format of IEEE 754: 5 bits of exponent, 11 bits of precision.
/// Arithmetic converts to `float`; conversion from `float` rounds to nearest, ties to even, and
/// gives infinity from 65520 on.
///
///     static_assert(float(float16(0.1F)) == 0.0999755859375F);
class float16 {
 public:
  using conversion = detail::float16_bits;

  float16() = default;
  constexpr float16(float number) noexcept : bits_(detail::bits_of_nearest<conversion>(number)) {}
  constexpr operator float() const noexcept { return detail::float_of_bits<conversion>(bits_); }
  [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }
  [[nodiscard]] static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 number;
    number.bits_ = bits;
    return number;
  }

 private:
  std::uint16_t bits_ = 0;
};

namespace detail {

/// The numeric limits of a 16-bit format laid out as in IEEE 754: `Digits` bits of precision, of
/// which the leading one is implicit, and the remaining bits for sign and exponent.
template <class T, int Digits>
struct half_limits {
  static constexpr int fraction_bits = Digits - 1;
  static constexpr unsigned bias = (1U << (14 - fraction_bits)) - 1;
  static constexpr unsigned infinite = (2 * bias + 1) << fraction_bits;

  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool is_bounded = true;
  static constexpr bool is_iec559 = Digits == 11;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int radix = 2;
  static constexpr int digits = Digits;
  static constexpr int max_exponent = static_cast<int>(bias) + 1;
  static constexpr int min_exponent = 2 - static_cast<int>(bias);

  static constexpr T from(unsigned bits) noexcept {
    return T::from_bits(static_cast<std::uint16_t>(bits));
  }
  static constexpr T infinity() noexcept { return from(infinite); }
  static constexpr T quiet_NaN() noexcept { return from(infinite | 1U << (fraction_bits - 1)); }
  static constexpr T max() noexcept { return from(infinite - 1); }
  static constexpr T lowest() noexcept { return from(0x8000U | (infinite - 1)); }
  static constexpr T min() noexcept { return from(1U << fraction_bits); }
  static constexpr T denorm_min() noexcept { return from(1); }
  static constexpr T epsilon() noexcept { return from((bias - fraction_bits) << fraction_bits); }
};

}  // namespace detail

}  // namespace shardwise

/// Specializations of `std::numeric_limits`, for generic code.
template <>
class std::numeric_limits<shardwise::bfloat16>
    : public shardwise::detail::half_limits<shardwise::bfloat16, 8> {};
template <>
class std::numeric_limits<shardwise::float16>
    : public shardwise::detail::half_limits<shardwise::float16, 11> {};
