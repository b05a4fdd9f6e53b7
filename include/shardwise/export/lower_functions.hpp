// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/export/lower_arithmetic.hpp"

#include <limits>
#include <numbers>

namespace shardwise::internal::elementwise_lowerings {

inline mlir_values asin(lowering& at) {
  const mlir_value &x = at.in(), one = at.number(1, x);
  const mlir_value root = at.each("sqrt", {at.multiply(at.subtract(one, x), at.add(one, x))});
  return {at.each("atan2", {x, root})};
}
inline mlir_values acos(lowering& at) {
  const mlir_value &x = at.in(), one = at.number(1, x);
  const mlir_value half =
      at.each("atan2", {at.each("sqrt", {at.subtract(one, x)}), at.each("sqrt", {at.add(one, x)})});
  return {at.add(half, half)};
}
inline mlir_values atan(lowering& at) {
  return {at.each("atan2", {at.in(), at.number(1, at.in())})};
}
/// Half an exponential, which does not overflow earlier than its half.
inline mlir_value half_exp(lowering& at, const mlir_value& x) {
  return at.each("exponential", {at.subtract(x, at.number(std::numbers::ln2, x))});
}
inline mlir_values sinh(lowering& at) {
  const mlir_value &x = at.in(), one = at.number(1, x);
  const mlir_value e = at.each("exponential_minus_one", {x});
  const mlir_value near = at.multiply(at.add(e, at.divide(e, at.add(e, one))), at.number(0.5, x));
  const mlir_value far = at.subtract(half_exp(at, x), half_exp(at, at.negate(x)));
  return {at.select(at.compare(at.each("abs", {x}), "LT", one), near, far)};
}
inline mlir_values cosh(lowering& at) {
  return {at.add(half_exp(at, at.in()), half_exp(at, at.negate(at.in())))};
}
inline mlir_values asinh(lowering& at) {
  const mlir_value& x = at.in();
  const mlir_value size = at.each("abs", {x}), one = at.number(1, x);
  const mlir_value far = at.compare(size, "GT", 1e4);
  const mlir_value held = at.minimum(size, at.number(1e4, x)), squared = at.multiply(held, held);
  const mlir_value root = at.each("sqrt", {at.add(one, squared)});
  const mlir_value near =
      at.each("log_plus_one", {at.add(held, at.divide(squared, at.add(one, root)))});
  const mlir_value large = at.add(at.each("log", {size}), at.number(std::numbers::ln2, x));
  return {at.multiply(at.each("sign", {x}), at.select(far, large, near))};
}
inline mlir_values acosh(lowering& at) {
  const mlir_value &x = at.in(), one = at.number(1, x);
  const mlir_value held = at.minimum(x, at.number(1e4, x));
  const mlir_value root =
      at.multiply(at.each("sqrt", {at.add(held, one)}), at.each("sqrt", {at.subtract(held, one)}));
  const mlir_value near = at.each("log", {at.add(held, root)});
  const mlir_value large = at.add(at.each("log", {x}), at.number(std::numbers::ln2, x));
  return {at.select(at.compare(x, "GT", 1e4), large, near)};
}
inline mlir_values atanh(lowering& at) {
  const mlir_value& x = at.in();
  const mlir_value twice =
      at.subtract(at.each("log_plus_one", {x}), at.each("log_plus_one", {at.negate(x)}));
  return {at.multiply(twice, at.number(0.5, x))};
}
inline mlir_values hypot(lowering& at) {
  const mlir_value a = at.each("abs", {at.in(0)}), b = at.each("abs", {at.in(1)});
  const mlir_value most = at.maximum(a, b), least = at.minimum(a, b);
  const mlir_value ratio =
      at.divide(least, at.select(at.compare(most, "EQ", 0), at.number(1, a), most));
  const mlir_value made =
      at.multiply(most, at.each("sqrt", {at.add(at.number(1, a), at.multiply(ratio, ratio))}));
  const double infinity = std::numeric_limits<double>::infinity();
  const mlir_value far = at.either(at.compare(a, "EQ", infinity), at.compare(b, "EQ", infinity));
  return {at.select(far, at.number(infinity, a), made)};
}
inline mlir_values logaddexp(lowering& at) {
  const mlir_value &a = at.in(0), &b = at.in(1);
  const mlir_value most = at.maximum(a, b), least = at.minimum(a, b);
  const mlir_value made =
      at.add(most, at.each("log_plus_one", {at.each("exponential", {at.subtract(least, most)})}));
  return {at.select(at.compare(a, "EQ", b), at.add(a, at.number(std::numbers::ln2, a)), made)};
}
inline mlir_values xlogy(lowering& at) {
  const mlir_value &x = at.in(0), &y = at.in(1);
  const mlir_value none = at.both(at.compare(x, "EQ", 0), at.compare(y, "EQ", y));
  return {at.select(none, at.number(0, x), at.multiply(x, at.each("log", {y})))};
}

/// `x` above the lowest number, so that infinity is not multiplied by 0.
inline mlir_value bounded(lowering& at, const mlir_value& x) {
  const std::string_view element = x.type.element;
  const double least = element == "f64"    ? std::numeric_limits<double>::lowest()
                       : element == "f16"  ? -65504.0
                       : element == "bf16" ? -3.3895313892515355e38
                                           : double{std::numeric_limits<float>::lowest()};
  return at.maximum(x, at.number(least, x));
}
inline mlir_values silu(lowering& at) {
  return {at.multiply(bounded(at, at.in()), at.each("logistic", {at.in()}))};
}
/// The approximation by a hyperbolic tangent: `x` times the sigmoid of twice its argument. Below
/// -64 results are 0, and infinity would be multiplied by it.
inline mlir_values gelu(lowering& at) {
  const mlir_value x = at.maximum(at.in(), at.number(-64, at.in()));
  const mlir_value cubed = at.multiply(x, at.multiply(x, x));
  const mlir_value inner = at.add(x, at.multiply(at.number(0.044715, x), cubed));
  const mlir_value twice = at.multiply(at.number(2 * 0.79788456080286535588, x), inner);
  return {at.multiply(x, at.each("logistic", {twice}))};
}
inline mlir_value erf(lowering& at, const mlir_value& x) {
  return at.custom("mhlo.erf", {x}, x.type);
}
inline mlir_values error_function(lowering& at) { return {erf(at, at.in())}; }
/// What is left of 1: small results have the absolute error of the error function.
inline mlir_values rest_of_error_function(lowering& at) {
  return {at.subtract(at.number(1, at.in()), erf(at, at.in()))};
}
inline mlir_values gelu_exact(lowering& at) {
  const mlir_value x = at.maximum(at.in(), at.number(-64, at.in()));
  const mlir_value above = erf(at, at.multiply(x, at.number(1 / std::numbers::sqrt2, x)));
  const mlir_value share = at.multiply(at.number(0.5, x), at.add(at.number(1, x), above));
  return {at.multiply(x, share)};
}
inline mlir_values mish(lowering& at) {
  const mlir_value &x = at.in(), two = at.number(2, x);
  const mlir_value e = at.each("exponential", {at.minimum(x, at.number(20, x))});
  const mlir_value grown = at.multiply(e, at.add(e, two));
  return {at.multiply(bounded(at, x), at.divide(grown, at.add(grown, two)))};
}
inline mlir_values soft_sign(lowering& at) {
  const mlir_value low = bounded(at, at.in()), x = at.negate(bounded(at, at.negate(low)));
  return {at.divide(x, at.add(at.each("abs", {x}), at.number(1, x)))};
}
inline mlir_values softplus(lowering& at) {
  const mlir_value& x = at.in();
  const mlir_value far = at.each("exponential", {at.negate(at.each("abs", {x}))});
  const mlir_value tail = at.each("log_plus_one", {far});
  return {at.add(at.maximum(x, at.number(0, x)), tail)};
}
inline mlir_values leaky_relu(lowering& at) {
  const mlir_value& x = at.in();
  return {at.select(at.compare(x, "LT", 0), at.multiply(at.in(1), x), x)};
}
inline mlir_values elu(lowering& at) {
  const mlir_value& x = at.in();
  return {at.select(at.compare(x, "LT", 0),
                    at.multiply(at.in(1), at.each("exponential_minus_one", {x})), x)};
}
}  // namespace shardwise::internal::elementwise_lowerings
