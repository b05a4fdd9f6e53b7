// SPDX-License-Identifier: BSL-1.0
// Operations of StableHLO on single elements, in double precision, rounded to the type of the
// result.
#pragma once

#include "unit/export/hlo_value.hpp"

#include <functional>
#include <map>

namespace hlo_text {

/// A function of elements of one form: its operands have the form of the result.
using element_function = number (*)(const std::vector<number>& x, const element_form& form);

namespace elements {

using list = std::vector<number>;

template <double (*F)(double)>
number real(const list& x, const element_form& form) {
  demand(form.is_float && !form.is_complex, "this function is of numbers with fractions");
  return real_number(F(x[0].real.real()));
}
inline std::uint64_t bits_of(const number& x) { return static_cast<std::uint64_t>(x.whole); }
inline number of_bits(std::uint64_t bits) { return whole_number(static_cast<std::int64_t>(bits)); }

inline number add(const list& x, const element_form& form) {
  if (form.bits == 1) return of_bits(bits_of(x[0]) | bits_of(x[1]));
  return form.is_float ? number{x[0].real + x[1].real, 0} : of_bits(bits_of(x[0]) + bits_of(x[1]));
}
inline number subtract(const list& x, const element_form& form) {
  return form.is_float ? number{x[0].real - x[1].real, 0} : of_bits(bits_of(x[0]) - bits_of(x[1]));
}
inline number multiply(const list& x, const element_form& form) {
  if (form.is_complex) return {x[0].real * x[1].real, 0};
  return form.is_float ? real_number(x[0].real.real() * x[1].real.real())
                       : of_bits(bits_of(x[0]) * bits_of(x[1]));
}
inline number divide(const list& x, const element_form& form) {
  if (form.is_complex) return {x[0].real / x[1].real, 0};
  if (form.is_float) return real_number(x[0].real.real() / x[1].real.real());
  demand(x[1].whole != 0, "division of integers by 0 is left open");
  if (form.is_unsigned) return of_bits(bits_of(x[0]) / bits_of(x[1]));
  return x[1].whole == -1 ? of_bits(0 - bits_of(x[0])) : whole_number(x[0].whole / x[1].whole);
}
inline number remainder(const list& x, const element_form& form) {
  if (form.is_float) return real_number(std::fmod(x[0].real.real(), x[1].real.real()));
  demand(x[1].whole != 0, "the remainder by 0 is left open");
  if (form.is_unsigned) return of_bits(bits_of(x[0]) % bits_of(x[1]));
  return whole_number(x[1].whole == -1 ? 0 : x[0].whole % x[1].whole);
}
/// NaN is the result if an operand is NaN, and 0 is above -0.
template <bool Greatest>
number extreme(const list& x, const element_form& form) {
  if (form.is_float) {
    const double a = x[0].real.real(), b = x[1].real.real();
    if (std::isnan(a) || std::isnan(b)) return real_number(std::nan(""));
    if (a == b) return std::signbit(a) == Greatest ? x[1] : x[0];
  }
  return (order_of(x[0], x[1], form) < 0) == Greatest ? x[1] : x[0];
}
inline number power(const list& x, const element_form& form) {
  if (form.is_float) return real_number(std::pow(x[0].real.real(), x[1].real.real()));
  std::uint64_t out = 1;
  for (std::int64_t n = 0; n < x[1].whole; ++n) out *= bits_of(x[0]);
  return of_bits(x[1].whole < 0 ? (x[0].whole == 1) : out);
}
inline number atan2(const list& x, const element_form& form) {
  demand(form.is_float, "atan2 is of numbers with fractions");
  return real_number(std::atan2(x[0].real.real(), x[1].real.real()));
}
inline number negate(const list& x, const element_form& form) {
  return form.is_float ? number{-x[0].real, 0} : of_bits(0 - bits_of(x[0]));
}
inline number abs(const list& x, const element_form& form) {
  if (form.is_float) return real_number(std::abs(x[0].real.real()));
  demand(!form.is_unsigned, "abs is of numbers with a sign");
  return x[0].whole < 0 ? of_bits(0 - bits_of(x[0])) : x[0];
}
inline number sign(const list& x, const element_form& form) {
  demand(!form.is_unsigned, "sign is of numbers with a sign");
  if (!form.is_float) return whole_number((x[0].whole > 0) - (x[0].whole < 0));
  const double a = x[0].real.real();
  return a > 0 ? real_number(1) : a < 0 ? real_number(-1) : x[0];
}
inline double logistic(double x) { return 1 / (1 + std::exp(-x)); }
inline double reciprocal_root(double x) { return 1 / std::sqrt(x); }
inline double nearest_even(double x) { return std::nearbyint(x); }
inline double away_from_zero(double x) { return std::round(x); }

template <std::uint64_t (*F)(std::uint64_t, std::uint64_t)>
number bitwise(const list& x, const element_form& form) {
  demand(!form.is_float, "bits are those of integers");
  return of_bits(F(bits_of(x[0]), bits_of(x[1])));
}
inline std::uint64_t both(std::uint64_t a, std::uint64_t b) { return a & b; }
inline std::uint64_t either(std::uint64_t a, std::uint64_t b) { return a | b; }
inline std::uint64_t one_of_two(std::uint64_t a, std::uint64_t b) { return a ^ b; }
inline number inverted(const list& x, const element_form& form) {
  demand(!form.is_float, "bits are those of integers");
  return of_bits(~bits_of(x[0]));
}
inline std::uint64_t low_bits(const number& x, const element_form& form) {
  return form.bits == 64 ? bits_of(x) : bits_of(x) & ((std::uint64_t{1} << form.bits) - 1);
}
/// By as many bits as there are or more, and by negative numbers, everything is shifted out.
inline number shift_left(const list& x, const element_form& form) {
  const std::uint64_t by = bits_of(x[1]);
  return of_bits(by >= static_cast<std::uint64_t>(form.bits) ? 0 : bits_of(x[0]) << by);
}
inline number shift_right_logical(const list& x, const element_form& form) {
  const std::uint64_t by = bits_of(x[1]);
  return of_bits(by >= static_cast<std::uint64_t>(form.bits) ? 0 : low_bits(x[0], form) >> by);
}
inline number shift_right_arithmetic(const list& x, const element_form& form) {
  const auto by = std::min<std::uint64_t>(bits_of(x[1]), static_cast<std::uint64_t>(form.bits) - 1);
  return whole_number(x[0].whole >> by);
}

}  // namespace elements

struct elementwise_row {
  std::size_t operands;
  element_function compute;
};
inline const std::map<std::string, elementwise_row>& elementwise_rows() {
  using namespace elements;
  static const std::map<std::string, elementwise_row> rows = {
      {"add", {2, add}},
      {"subtract", {2, subtract}},
      {"multiply", {2, multiply}},
      {"divide", {2, divide}},
      {"remainder", {2, remainder}},
      {"maximum", {2, extreme<true>}},
      {"minimum", {2, extreme<false>}},
      {"power", {2, power}},
      {"atan2", {2, elements::atan2}},
      {"negate", {1, negate}},
      {"abs", {1, elements::abs}},
      {"sign", {1, sign}},
      {"floor", {1, real<std::floor>}},
      {"ceil", {1, real<std::ceil>}},
      {"round_nearest_even", {1, real<nearest_even>}},
      {"round_nearest_afz", {1, real<away_from_zero>}},
      {"sqrt", {1, real<std::sqrt>}},
      {"rsqrt", {1, real<reciprocal_root>}},
      {"cbrt", {1, real<std::cbrt>}},
      {"exponential", {1, real<std::exp>}},
      {"exponential_minus_one", {1, real<std::expm1>}},
      {"log", {1, real<std::log>}},
      {"log_plus_one", {1, real<std::log1p>}},
      {"logistic", {1, real<logistic>}},
      {"sine", {1, real<std::sin>}},
      {"cosine", {1, real<std::cos>}},
      {"tan", {1, real<std::tan>}},
      {"tanh", {1, real<std::tanh>}},
      {"and", {2, bitwise<both>}},
      {"or", {2, bitwise<either>}},
      {"xor", {2, bitwise<one_of_two>}},
      {"not", {1, inverted}},
      {"shift_left", {2, shift_left}},
      {"shift_right_logical", {2, shift_right_logical}},
      {"shift_right_arithmetic", {2, shift_right_arithmetic}},
  };
  return rows;
}

/// The bits of an element, and an element of these bits.
inline std::uint64_t stored_bits(const number& x, const element_form& form) {
  if (!form.is_float) return elements::low_bits(x, form);
  const double real = x.real.real();
  if (form.bits == 64) return std::bit_cast<std::uint64_t>(real);
  const auto narrow = static_cast<float>(real);
  if (form.bits == 32) return std::bit_cast<std::uint32_t>(narrow);
  if (form.bits == 15) return std::bit_cast<std::uint32_t>(narrow) >> 16U;
  return std::bit_cast<std::uint16_t>(shardwise::float16(narrow));
}
/// Converts an element. Fractions are cut off; what an integer cannot hold becomes its extreme, and
/// NaN becomes 0.
inline number converted(const number& x, const element_form& from, const element_form& to) {
  if (to.bits == 1 && !to.is_float)
    return whole_number(from.is_float ? x.real != 0.0 : x.whole != 0);
  if (to.is_float) {
    if (from.is_float) return as_element(to.is_complex ? x : real_number(x.real.real()), to);
    return as_element(real_number(from.is_unsigned ? static_cast<double>(elements::bits_of(x))
                                                   : static_cast<double>(x.whole)),
                      to);
  }
  if (!from.is_float) return as_element(x, to);
  const double real = std::trunc(x.real.real());
  if (std::isnan(real)) return whole_number(0);
  const double most = std::ldexp(1.0, to.is_unsigned ? to.bits : to.bits - 1);
  const auto above =
      to.is_unsigned ? ~std::uint64_t{0} >> (64 - to.bits) : ~std::uint64_t{0} >> (65 - to.bits);
  if (real >= most) return as_element(whole_number(static_cast<std::int64_t>(above)), to);
  if (to.is_unsigned)
    return real <= 0 ? whole_number(0)
                     : whole_number(static_cast<std::int64_t>(static_cast<std::uint64_t>(real)));
  if (real < -most) return whole_number(-static_cast<std::int64_t>(above) - 1);
  return whole_number(static_cast<std::int64_t>(real));
}

}  // namespace hlo_text
