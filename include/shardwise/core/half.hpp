// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace shardwise {

/// The 16-bit floating-point format with the exponent of a `float` and 8 bits of precision.
/// Arithmetic converts to `float`; conversion from `float` rounds to nearest, ties to even.
///
///     static_assert(float(bfloat16(3.14159F)) == 3.140625F);
class bfloat16 {
 public:
  bfloat16() = default;
  constexpr bfloat16(float number) noexcept {
    const auto all = std::bit_cast<std::uint32_t>(number);
    // A NaN stays a quiet NaN, whatever bits are lost.
    if ((all & 0x7FFFFFFFU) > 0x7F800000U)
      bits_ = static_cast<std::uint16_t>(all >> 16U | 0x40U);
    else
      bits_ = static_cast<std::uint16_t>((all + 0x7FFFU + (all >> 16U & 1U)) >> 16U);
  }
  constexpr operator float() const noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16U);
  }
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
  float16() = default;
  constexpr float16(float number) noexcept {
    const auto all = std::bit_cast<std::uint32_t>(number);
    const std::uint32_t sign = all >> 16U & 0x8000U;
    const std::uint32_t size = all & 0x7FFFFFFFU;
    std::uint32_t half = 0;
    if (size > 0x7F800000U) {
      half = 0x7E00U | (size >> 13U & 0x3FFU);
    } else if (size >= 0x477FF000U) {
      half = 0x7C00U;
    } else if (size < 0x38800000U) {
      // Subnormal: after adding a half, the addition itself rounds at the position of the last bit.
      const float shifted = std::bit_cast<float>(size) + 0.5F;
      half = std::bit_cast<std::uint32_t>(shifted) - 0x3F000000U;
    } else {
      half = (size + 0xFFFU + (size >> 13U & 1U) - 0x38000000U) >> 13U;
    }
    bits_ = static_cast<std::uint16_t>(sign | half);
  }
  constexpr operator float() const noexcept {
    const std::uint32_t sign = (bits_ & 0x8000U) << 16U;
    const std::uint32_t size = bits_ & 0x7FFFU;
    if (size >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (size & 0x3FFU) << 13U);
    if (size >= 0x400U) return std::bit_cast<float>(sign | ((size << 13U) + 0x38000000U));
    const float small = static_cast<float>(size) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
  }
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
