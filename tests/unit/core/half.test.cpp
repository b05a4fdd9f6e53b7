// SPDX-License-Identifier: BSL-1.0
#include "support/catch.hpp"
#include <shardwise/core.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace shardwise;

namespace {

/// A binary format: bits of precision, including the first, which is not stored, and the smallest
/// exponent of a normal number 1.x * 2^e.
struct format {
  int precision;
  int least;
  int largest;
};
constexpr format bf16{8, -126, 127};
constexpr format f16{11, -14, 15};

/// The value of 16 bits by the definition of the format.
double value_of(std::uint16_t bits, format f) {
  const int stored = f.precision - 1;
  const int fraction = bits & ((1 << stored) - 1);
  const int exponent = (bits & 0x7FFF) >> stored;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == f.largest - f.least + 2)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, f.least - stored);
  return sign * std::ldexp((1 << stored) + fraction, exponent - 1 + f.least - stored);
}

/// The bits of the nearest number of a format, ties to even: by exact arithmetic of double, which
/// no step here rounds but that of `nearbyint`.
std::uint16_t nearest(double x, format f) {
  const int stored = f.precision - 1;
  const int sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  const int infinite = (f.largest - f.least + 2) << stored;
  if (std::isinf(x)) return static_cast<std::uint16_t>(sign | infinite);
  int exponent = f.least;
  if (size > 0) exponent = std::max(std::ilogb(size), f.least);
  // In units of the last place; subnormal numbers have those of the smallest exponent.
  const double units = std::nearbyint(std::ldexp(size, stored - exponent));
  const int all = static_cast<int>(units) + ((exponent - f.least) << stored);
  return static_cast<std::uint16_t>(sign | std::min(all, infinite));
}

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

/// Every value survives the conversion to float and back, and has the value defined by the format.
template <class T>
int wrong_round_trips(format f) {
  int wrong = 0;
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const auto number = T::from_bits(bits);
    const double value = value_of(bits, f);
    const auto back = T(static_cast<float>(number));
    if (std::isnan(value)) {
      // NaN keeps its sign; a signalling NaN becomes quiet.
      const std::uint32_t quiet = i | 1U << (f.precision - 2);
      wrong += std::isnan(static_cast<float>(number)) && back.bits() == quiet ? 0 : 1;
    } else {
      const auto expected = static_cast<float>(value);
      wrong += bits_of(number) == bits_of(expected) && back.bits() == bits ? 0 : 1;
    }
  }
  return wrong;
}

/// Returns the floats whose rounding differs from `nearest`, among each number of the format, the
/// middle to the next one, their neighbours in float, and a sweep over all bits of float.
template <class T>
int wrong_roundings(format f) {
  int wrong = 0;
  const auto check = [&](float x) {
    if (std::isnan(x)) {
      wrong += std::isnan(static_cast<float>(T(x))) ? 0 : 1;
      return;
    }
    for (float y : {x, -x}) wrong += T(y).bits() == nearest(y, f) ? 0 : 1;
  };
  const auto check_around = [&](double x) {
    const auto at = static_cast<float>(x);
    for (std::uint32_t step = 0; step < 5; ++step) check(std::bit_cast<float>(bits_of(at) + step));
    for (std::uint32_t step = 1; step < 5 && step <= bits_of(at); ++step)
      check(std::bit_cast<float>(bits_of(at) - step));
  };
  for (std::uint32_t i = 0; i < 0x8000; ++i) {
    const double here = value_of(static_cast<std::uint16_t>(i), f);
    const double next = value_of(static_cast<std::uint16_t>(i + 1), f);
    if (std::isnan(here) || std::isinf(here)) continue;
    check_around(here);
    check_around(std::isinf(next) ? here * 1.001 : (here + next) / 2);
  }
  for (std::uint64_t i = 0; i < 0x80000000U; i += 997)
    check(std::bit_cast<float>(static_cast<std::uint32_t>(i)));
  return wrong;
}

/// The members of `std::numeric_limits`, compared with the rules for float.
template <class T>
void check_limits(format f) {
  using limits = std::numeric_limits<T>;
  STATIC_REQUIRE(limits::is_specialized);
  STATIC_REQUIRE(limits::is_signed);
  STATIC_REQUIRE(!limits::is_integer);
  STATIC_REQUIRE(limits::has_infinity);
  STATIC_REQUIRE(limits::has_quiet_NaN);
  REQUIRE(limits::digits == f.precision);
  REQUIRE(std::isinf(static_cast<float>(limits::infinity())));
  REQUIRE(static_cast<float>(limits::infinity()) > 0);
  REQUIRE(std::isnan(static_cast<float>(limits::quiet_NaN())));
  const double largest = std::ldexp(2 - std::ldexp(1, 1 - f.precision), f.largest);
  REQUIRE(static_cast<double>(limits::max()) == largest);
  REQUIRE(static_cast<double>(limits::lowest()) == -largest);
  REQUIRE(static_cast<double>(limits::epsilon()) == std::ldexp(1, 1 - f.precision));
  // The exponents of normal numbers are symmetric: the smallest is 1 - largest.
  REQUIRE(static_cast<double>(limits::min()) == std::ldexp(1, 1 - f.largest));
  REQUIRE(static_cast<double>(limits::denorm_min()) == std::ldexp(1, 2 - f.largest - f.precision));
  REQUIRE(limits::max_exponent == f.largest + 1);
  REQUIRE(limits::min_exponent == 2 - f.largest);
}

}  // namespace

TEST_CASE("all numbers of 16 bits are what their format says, and come back from float") {
  REQUIRE(wrong_round_trips<bfloat16>(bf16) == 0);
  REQUIRE(wrong_round_trips<float16>(f16) == 0);
}

TEST_CASE("a float is rounded to the nearest number of 16 bits, ties to even") {
  REQUIRE(wrong_roundings<bfloat16>(bf16) == 0);
  REQUIRE(wrong_roundings<float16>(f16) == 0);
}

TEST_CASE("the ends of the range of 16 bits") {
  const float infinite = std::numeric_limits<float>::infinity();
  REQUIRE(bfloat16(infinite).bits() == 0x7F80);
  REQUIRE(bfloat16(-infinite).bits() == 0xFF80);
  REQUIRE(bfloat16(std::numeric_limits<float>::max()).bits() == 0x7F80);
  REQUIRE(float16(infinite).bits() == 0x7C00);
  REQUIRE(float16(-infinite).bits() == 0xFC00);
  REQUIRE(float16(65504.0F).bits() == 0x7BFF);
  REQUIRE(float16(65519.996F).bits() == 0x7BFF);
  REQUIRE(float16(65520.0F).bits() == 0x7C00);
  // The smallest subnormal number, half of it, which is a tie, and a little more.
  REQUIRE(float16(0x1p-24F).bits() == 1);
  REQUIRE(float16(0x1p-25F).bits() == 0);
  REQUIRE(float16(0x1.000002p-25F).bits() == 1);
  REQUIRE(float16(-0x1p-25F).bits() == 0x8000);
  REQUIRE(bfloat16(0x1p-133F).bits() == 1);
  REQUIRE(bfloat16(0x1p-134F).bits() == 0);
  REQUIRE(bfloat16(-0x1p-149F).bits() == 0x8000);
  // A NaN whose payload is in the bits that are lost.
  REQUIRE(std::isnan(static_cast<float>(bfloat16(std::bit_cast<float>(0x7F800001U)))));
  REQUIRE(std::isnan(static_cast<float>(float16(std::bit_cast<float>(0xFF800001U)))));
}

TEST_CASE("limits of the numbers of 16 bits") {
  check_limits<bfloat16>(bf16);
  check_limits<float16>(f16);
}

// Constants, zeros of both signs, ties and arithmetic by way of float.
static_assert(bfloat16().bits() == 0 && float16().bits() == 0);
static_assert(bfloat16(-0.0F).bits() == 0x8000 && float16(-0.0F).bits() == 0x8000);
static_assert(float(bfloat16(3.14159F)) == 3.140625F && float(float16(0.1F)) == 0.0999755859375F);
static_assert(bfloat16(0x1.01p0F).bits() == 0x3F80 && bfloat16(0x1.03p0F).bits() == 0x3F82);
static_assert(float16(0x1.002p0F).bits() == 0x3C00 && float16(0x1.006p0F).bits() == 0x3C02);
static_assert(bfloat16(1.5F) + bfloat16(0.25F) == 1.75F && float16(2.0F) < float16(3.0F));
static_assert(sizeof(bfloat16) == 2 && sizeof(float16) == 2);
