// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace shardwise {

/// A floating-point number of 16 bits with the exponent of a `float` and 8 bits of precision.
/// Arithmetic converts it to `float`; a `float` is rounded to the nearest, ties to even.
///
///     static_assert(float(bfloat16(3.14159F)) == 3.140625F);
class bfloat16 {
 public:
  bfloat16() = default;
  constexpr bfloat16(float number) noexcept {
    const auto all = std::bit_cast<std::uint32_t>(number);
    // A NaN stays one, quiet, whatever bits are lost.
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

/// A floating-point number of 16 bits as IEEE 754 has it: 5 bits of exponent, 11 of precision.
/// Arithmetic converts it to `float`; a `float` is rounded to the nearest, ties to even, and is
/// infinite from 65520 on.
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
      // Subnormal: adding a half lets the sum round at the place of the last bit.
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

}  // namespace shardwise

/// What generic code asks of numbers.
template <>
class std::numeric_limits<shardwise::bfloat16> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = 8;
  static constexpr shardwise::bfloat16 infinity() noexcept {
    return shardwise::bfloat16::from_bits(0x7F80);
  }
  static constexpr shardwise::bfloat16 quiet_NaN() noexcept {
    return shardwise::bfloat16::from_bits(0x7FC0);
  }
  static constexpr shardwise::bfloat16 max() noexcept {
    return shardwise::bfloat16::from_bits(0x7F7F);
  }
  static constexpr shardwise::bfloat16 lowest() noexcept {
    return shardwise::bfloat16::from_bits(0xFF7F);
  }
  static constexpr shardwise::bfloat16 epsilon() noexcept {
    return shardwise::bfloat16::from_bits(0x3C00);
  }
};
template <>
class std::numeric_limits<shardwise::float16> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = 11;
  static constexpr shardwise::float16 infinity() noexcept {
    return shardwise::float16::from_bits(0x7C00);
  }
  static constexpr shardwise::float16 quiet_NaN() noexcept {
    return shardwise::float16::from_bits(0x7E00);
  }
  static constexpr shardwise::float16 max() noexcept {
    return shardwise::float16::from_bits(0x7BFF);
  }
  static constexpr shardwise::float16 lowest() noexcept {
    return shardwise::float16::from_bits(0xFBFF);
  }
  static constexpr shardwise::float16 epsilon() noexcept {
    return shardwise::float16::from_bits(0x1400);
  }
};
