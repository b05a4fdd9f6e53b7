// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lowering.hpp"

#include <limits>
#include <numbers>

namespace shardwise::internal::elementwise_lowerings {

// Each function receives operands that are broadcast to the extents of the result already.

inline mlir_values identity(lowering& at) { return {at.in()}; }

template <fixed_string Direction>
mlir_values comparison(lowering& at) {
  constexpr text_view direction = Direction;
  return {at.compare(at.in(0), {direction.data(), direction.size()}, at.in(1))};
}

/// Integers divided by 0 are 0, and the lowest integer divided by -1 is itself: the quotients that
/// StableHLO leaves open.
inline mlir_value quotient(lowering& at, const mlir_value& a, const mlir_value& b) {
  const std::string_view element = a.type.element;
  if (is_mlir_float(element)) return at.divide(a, b);
  const mlir_value zero = at.integer(0, b.type), one = at.integer(1, b.type);
  mlir_value is_special = at.compare(b, "EQ", zero), special = zero;
  if (!element.starts_with('u')) {
    const mlir_value is_minus = at.compare(b, "EQ", at.integer(-1, b.type));
    special = at.select(is_minus, at.negate(a), zero);
    is_special = at.either(is_special, is_minus);
  }
  return at.select(is_special, special, at.divide(a, at.select(is_special, one, b)));
}
inline mlir_value rest(lowering& at, const mlir_value& a, const mlir_value& b) {
  if (is_mlir_float(a.type.element)) return at.each("remainder", {a, b});
  const mlir_value zero = at.integer(0, b.type), one = at.integer(1, b.type);
  mlir_value is_special = at.compare(b, "EQ", zero);
  if (!a.type.element.starts_with('u'))
    is_special = at.either(is_special, at.compare(b, "EQ", at.integer(-1, b.type)));
  return at.select(is_special, zero, at.each("remainder", {a, at.select(is_special, one, b)}));
}
/// True where a remainder has another sign than its divisor.
inline mlir_value is_across(lowering& at, const mlir_value& rest, const mlir_value& b) {
  const mlir_value zero = at.integer(0, b.type);
  return at.both(at.compare(rest, "NE", zero),
                 at.compare(at.compare(rest, "LT", zero), "NE", at.compare(b, "LT", zero)));
}
/// The size of the first with the sign of the second.
inline mlir_value with_sign(lowering& at, const mlir_value& size, const mlir_value& sign) {
  const std::string_view element = size.type.element;
  const std::string_view bits = element == "f64" ? "i64" : element == "f32" ? "i32" : "i16";
  const auto as_bits = [&](const mlir_value& x) {
    return at.op("bitcast_convert", {x}, x.type.of(bits));
  };
  const mlir_value is_negative = at.compare(as_bits(sign), "LT", at.integer(0, sign.type.of(bits)));
  const mlir_value plain = at.each("abs", {size});
  return at.select(is_negative, at.negate(plain), plain);
}
inline mlir_values divide(lowering& at) { return {quotient(at, at.in(0), at.in(1))}; }
inline mlir_values fmod(lowering& at) { return {rest(at, at.in(0), at.in(1))}; }
inline mlir_values remainder(lowering& at) {
  const mlir_value &a = at.in(0), &b = at.in(1), r = rest(at, a, b);
  const mlir_value made = at.select(is_across(at, r, b), at.add(r, b), r);
  if (!is_mlir_float(a.type.element)) return {made};
  return {at.select(at.compare(r, "EQ", 0), with_sign(at, r, b), made)};
}
inline mlir_values floor_divide(lowering& at) {
  const mlir_value &a = at.in(0), &b = at.in(1), r = rest(at, a, b);
  const mlir_value across = is_across(at, r, b), one = at.integer(1, b.type);
  if (!is_mlir_float(a.type.element)) {
    const mlir_value q = quotient(at, a, b);
    return {at.select(across, at.subtract(q, one), q)};
  }
  const mlir_value exact = at.divide(a, b);
  const mlir_value whole = at.each("round_nearest_even", {at.divide(at.subtract(a, r), b)});
  const mlir_value q = at.subtract(whole, at.convert(across, a.type.element));
  const mlir_value made = at.select(at.compare(q, "EQ", 0), with_sign(at, q, exact), q);
  return {at.select(at.compare(b, "EQ", 0), exact, made)};
}
inline mlir_values copysign(lowering& at) { return {with_sign(at, at.in(0), at.in(1))}; }

inline mlir_values square(lowering& at) { return {at.multiply(at.in(), at.in())}; }
/// NaN and -0 are kept.
inline mlir_values relu(lowering& at) {
  const mlir_value zero = at.integer(0, at.in().type);
  return {at.select(at.compare(at.in(), "LT", zero), zero, at.in())};
}
inline mlir_values abs(lowering& at) {
  return at.in().type.element.starts_with('u') ? mlir_values{at.in()}
                                               : mlir_values{at.each("abs", {at.in()})};
}
inline mlir_values reciprocal(lowering& at) { return {at.divide(at.number(1, at.in()), at.in())}; }
inline mlir_values exp2(lowering& at) {
  return {at.each("power", {at.number(2, at.in()), at.in()})};
}
template <bool OfTwo>
mlir_values logarithm(lowering& at) {
  const double unit = OfTwo ? std::numbers::ln2 : std::numbers::ln10;
  return {at.divide(at.each("log", {at.in()}), at.number(unit, at.in()))};
}

inline mlir_values clamp(lowering& at) {
  return {at.minimum(at.maximum(at.in(0), at.in(1)), at.in(2))};
}
inline mlir_values where(lowering& at) { return {at.select(at.in(0), at.in(1), at.in(2))}; }
inline mlir_values masked(lowering& at) {
  return {at.select(at.in(1), at.in(0), at.integer(0, at.in(0).type))};
}

/// Integers are whole, finite numbers.
template <fixed_string Name>
mlir_values rounded(lowering& at) {
  constexpr text_view name = Name;
  return is_mlir_float(at.in().type.element)
             ? mlir_values{at.each({name.data(), name.size()}, {at.in()})}
             : mlir_values{at.in()};
}
inline mlir_values trunc(lowering& at) {
  const mlir_value& x = at.in();
  if (!is_mlir_float(x.type.element)) return {x};
  return {at.select(at.compare(x, "LT", 0), at.each("ceil", {x}), at.each("floor", {x}))};
}
inline mlir_values sign(lowering& at) {
  const mlir_value& x = at.in();
  if (!x.type.element.starts_with('u')) return {at.each("sign", {x})};
  return {at.convert(at.compare(x, "NE", at.integer(0, x.type)), x.type.element)};
}
inline mlir_values isnan(lowering& at) { return {at.is_nan(at.in())}; }
inline mlir_values isinf(lowering& at) {
  const mlir_value& x = at.in();
  if (!is_mlir_float(x.type.element)) return {at.integer(0, x.type.of("i1"))};
  return {at.compare(at.each("abs", {x}), "EQ", std::numeric_limits<double>::infinity())};
}
inline mlir_values isfinite(lowering& at) {
  const mlir_value& x = at.in();
  if (!is_mlir_float(x.type.element)) return {at.integer(1, x.type.of("i1"))};
  return {at.op("is_finite", {x}, x.type.of("i1"))};
}

/// Numbers out of range of a narrower type become the nearest ones; NaN becomes 0.
inline mlir_values cast(lowering& at) {
  const mlir_value& x = at.in();
  const std::string_view from = x.type.element, to = at.result().element;
  if (from == to) return {x};
  if (to == "i1") return {at.compare(x, "NE", at.integer(0, x.type))};
  if (is_mlir_float(to) || from == "i1") return {at.convert(x, to)};
  const bool is_unsigned = to.starts_with('u');
  const int digits = to == "i8" ? 7 : is_unsigned ? 8 : to == "i32" ? 31 : 63;
  const double above = std::ldexp(1.0, digits), below = is_unsigned ? 0.0 : -above;
  const mlir_type made = x.type.of(to);
  const auto most = static_cast<index_t>(~std::uint64_t{0} >> (64 - digits));
  const mlir_value last = at.integer(most, made),
                   first = at.integer(is_unsigned ? 0 : -most - 1, made);
  if (is_mlir_float(from)) {
    const mlir_value plain =
        at.convert(at.select(at.either(at.compare(x, "GE", above),
                                       at.either(at.compare(x, "LT", below), at.is_nan(x))),
                             at.number(0, x), x),
                   to);
    const mlir_value low = at.select(at.compare(x, "LT", below), first, plain);
    return {at.select(at.compare(x, "GE", above), last, low)};
  }
  // Every integer is in the range of 64 bits.
  const mlir_value wide = at.convert(x, "i64");
  const mlir_value low = at.maximum(wide, at.integer(is_unsigned ? 0 : -most - 1, wide.type));
  return {at.convert(at.minimum(low, at.integer(most, wide.type)), to)};
}

/// Shifts by more places than there are leave nothing, or the sign.
inline mlir_value is_place(lowering& at, const mlir_value& count) {
  const std::string_view element = count.type.element;
  const index_t digits = element == "i64" ? 64 : element == "i32" ? 32 : 8;
  const mlir_value below = at.compare(count, "LT", at.integer(digits, count.type));
  return element.starts_with('u')
             ? below
             : at.both(below, at.compare(count, "GE", at.integer(0, count.type)));
}
inline mlir_values left_shift(lowering& at) {
  return {at.select(is_place(at, at.in(1)), at.each("shift_left", {at.in(0), at.in(1)}),
                    at.integer(0, at.in().type))};
}
inline mlir_values right_shift(lowering& at) {
  const mlir_value &a = at.in(0), &b = at.in(1), zero = at.integer(0, a.type);
  if (a.type.element.starts_with('u'))
    return {at.select(is_place(at, b), at.each("shift_right_logical", {a, b}), zero)};
  const mlir_value none = at.select(at.compare(a, "LT", zero), at.integer(-1, a.type), zero);
  return {at.select(is_place(at, b), at.each("shift_right_arithmetic", {a, b}), none)};
}

}  // namespace shardwise::internal::elementwise_lowerings
