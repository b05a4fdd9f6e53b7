// SPDX-License-Identifier: BSL-1.0
// Rows of functions that are applied element by element.
#include "property/rows/tables.hpp"

#include <limits>

namespace generated {

/// A row of a function of one tensor.
template <class F, class Loop>
operation_row unary_row(std::string name, draw numbers_of, F f, Loop loop, double error = 0) {
  return {.name = std::move(name),
          .operands = {{{5, 3}, std::move(numbers_of)}},
          .apply = [f](const row_tensors& x) -> row_tensors { return {f(x[0].as<>())}; },
          .loop = elementwise_loop(loop),
          .error = error,
          .is_differentiable = true};
}
/// A row of a function of two tensors, the second repeated along the rows of the first.
template <class F, class Loop>
operation_row binary_row(std::string name, draw left, draw right, F f, Loop loop,
                         double error = 0) {
  return {
      .name = std::move(name),
      .operands = {{{5, 3}, std::move(left)}, {{3}, std::move(right)}},
      .apply = [f](const row_tensors& x) -> row_tensors { return {f(x[0].as<>(), x[1].as<>())}; },
      .loop = elementwise_loop(loop),
      .error = error,
      .is_differentiable = true};
}

std::vector<operation_row> arithmetic_rows() {
  std::vector<operation_row> rows;
  const draw exact = whole();
  const auto with = [&](auto f, auto loop) {
    return [f, loop](std::string name, draw left, draw right) {
      return binary_row(std::move(name), std::move(left), std::move(right), f, loop);
    };
  };
  rows.push_back(with([](const auto& a, const auto& b) { return a + b; },
                      [](double a, double b) { return a + b; })("add", exact, exact));
  rows.push_back(with([](const auto& a, const auto& b) { return a - b; },
                      [](double a, double b) { return a - b; })("subtract", exact, exact));
  rows.push_back(with([](const auto& a, const auto& b) { return a * b; },
                      [](double a, double b) { return a * b; })("multiply", exact, exact));
  rows.push_back(
      with([](const auto& a, const auto& b) { return a / b; },
           [](double a, double b) { return a / b; })("divide", exact, one_of({-4, -2, 1, 2, 0.5})));
  rows.push_back(
      with([](const auto& a, const auto& b) { return maximum(a, b); },
           [](double a, double b) { return a < b ? b : a; })("maximum", exact, between(-3, 3)));
  rows.push_back(
      with([](const auto& a, const auto& b) { return minimum(a, b); },
           [](double a, double b) { return b < a ? b : a; })("minimum", exact, between(-3, 3)));
  for (operation_row& row : rows) {
    if (row.name == "maximum") row.pending = reduction::max;
    if (row.name == "minimum") row.pending = reduction::min;
  }
  rows.push_back(unary_row(
      "negate", exact, [](const auto& a) { return -a; }, [](double a) { return -a; }));
  rows.push_back(unary_row(
      "abs", between(-3, 3), [](const auto& a) { return abs(a); },
      [](double a) { return std::abs(a); }));
  rows.push_back(unary_row(
      "square", exact, [](const auto& a) { return square(a); }, [](double a) { return a * a; }));
  rows.push_back(unary_row(
      "relu", between(-3, 3), [](const auto& a) { return relu(a); },
      [](double a) { return a < 0 ? 0 : a; }));
  rows.push_back(unary_row(
      "number on the left", exact, [](const auto& a) { return 2 - a; },
      [](double a) { return 2 - a; }));
  rows.push_back(unary_row(
      "number on the right", exact, [](const auto& a) { return a * 0.5; },
      [](double a) { return a * 0.5; }));
  for (const auto& shapes : std::vector<std::vector<extents_desc>>{
           {{5, 3}, {5, 3}}, {{5, 1}, {5, 3}}, {{4}, {1}}, {{2, 3}, {}}, {{0, 3}, {3}}}) {
    operation_row row = rows.front();
    row.name += " broadcast";
    for (std::size_t o = 0; o < 2; ++o) row.operands[o].extents = shapes[o];
    rows.push_back(row);
  }
  return rows;
}

std::vector<operation_row> transcendental_rows() {
  const draw any = between(-3, 3), positive = between(0.1, 5);
  return {unary_row(
              "sqrt", positive, [](const auto& a) { return sqrt(a); },
              [](double a) { return std::sqrt(a); }),
          unary_row(
              "exp", any, [](const auto& a) { return exp(a); },
              [](double a) { return std::exp(a); }, 1e-15),
          unary_row(
              "log", positive, [](const auto& a) { return log(a); },
              [](double a) { return std::log(a); }, 1e-15),
          unary_row(
              "tanh", any, [](const auto& a) { return tanh(a); },
              [](double a) { return std::tanh(a); }, 1e-15),
          unary_row(
              "sigmoid", any, [](const auto& a) { return sigmoid(a); },
              [](double a) { return 1 / (1 + std::exp(-a)); }, 1e-15),
          unary_row(
              "gelu", any, [](const auto& a) { return gelu(a); },
              [](double a) {
                return 0.5 * a *
                       (1 + std::tanh(0.79788456080286535588 * (a + 0.044715 * a * a * a)));
              },
              1e-14)};
}

std::vector<operation_row> trigonometric_rows() {
  const draw any = between(-3, 3), unit = between(-1, 1), above = between(1.1, 5);
  return {unary_row(
              "sin", any, [](const auto& a) { return sin(a); },
              [](double a) { return std::sin(a); }, 1e-14),
          unary_row(
              "cos", any, [](const auto& a) { return cos(a); },
              [](double a) { return std::cos(a); }, 1e-14),
          unary_row(
              "tan", unit, [](const auto& a) { return tan(a); },
              [](double a) { return std::tan(a); }, 1e-14),
          unary_row(
              "atan", any, [](const auto& a) { return atan(a); },
              [](double a) { return std::atan(a); }, 1e-14),
          unary_row(
              "sinh", any, [](const auto& a) { return sinh(a); },
              [](double a) { return std::sinh(a); }, 1e-14),
          unary_row(
              "cosh", any, [](const auto& a) { return cosh(a); },
              [](double a) { return std::cosh(a); }, 1e-14),
          unary_row(
              "asinh", any, [](const auto& a) { return asinh(a); },
              [](double a) { return std::asinh(a); }, 1e-14),
          unary_row(
              "asin", unit, [](const auto& a) { return asin(a); },
              [](double a) { return std::asin(a); }, 1e-14),
          unary_row(
              "acos", unit, [](const auto& a) { return acos(a); },
              [](double a) { return std::acos(a); }, 1e-14),
          unary_row(
              "atanh", unit, [](const auto& a) { return atanh(a); },
              [](double a) { return std::atanh(a); }, 1e-14),
          unary_row(
              "acosh", above, [](const auto& a) { return acosh(a); },
              [](double a) { return std::acosh(a); }, 1e-14),
          binary_row(
              "atan2", any, any, [](const auto& y, const auto& x) { return atan2(y, x); },
              [](double y, double x) { return std::atan2(y, x); }, 1e-14)};
}

std::vector<operation_row> exponential_rows() {
  const draw any = between(-3, 3), positive = between(0.1, 5);
  return {unary_row(
              "exp2", any, [](const auto& a) { return exp2(a); },
              [](double a) { return std::exp2(a); }, 1e-14),
          unary_row(
              "expm1", any, [](const auto& a) { return expm1(a); },
              [](double a) { return std::expm1(a); }, 1e-14),
          unary_row(
              "cbrt", any, [](const auto& a) { return cbrt(a); },
              [](double a) { return std::cbrt(a); }, 1e-14),
          unary_row(
              "erf", any, [](const auto& a) { return erf(a); },
              [](double a) { return std::erf(a); }, 1e-14),
          unary_row(
              "erfc", any, [](const auto& a) { return erfc(a); },
              [](double a) { return std::erfc(a); }, 1e-14),
          unary_row(
              "erfinv", between(-0.9, 0.9), [](const auto& a) { return erfinv(a); },
              [](double a) {
                double y = 0;
                for (int i = 0; i < 40; ++i)
                  y -= (std::erf(y) - a) * std::exp(y * y) * 0.88622692545275801;
                return y;
              },
              1e-14),
          unary_row(
              "lgamma", positive, [](const auto& a) { return lgamma(a); },
              [](double a) { return std::lgamma(a); }, 1e-14),
          unary_row(
              "log1p", positive, [](const auto& a) { return log1p(a); },
              [](double a) { return std::log1p(a); }, 1e-14),
          unary_row(
              "log2", positive, [](const auto& a) { return log2(a); },
              [](double a) { return std::log2(a); }, 1e-14),
          unary_row(
              "log10", positive, [](const auto& a) { return log10(a); },
              [](double a) { return std::log10(a); }, 1e-14),
          unary_row(
              "rsqrt", positive, [](const auto& a) { return rsqrt(a); },
              [](double a) { return 1 / std::sqrt(a); }, 1e-14),
          unary_row(
              "reciprocal", positive, [](const auto& a) { return reciprocal(a); },
              [](double a) { return 1 / a; }, 1e-14),
          binary_row(
              "logaddexp", any, any, [](const auto& a, const auto& b) { return logaddexp(a, b); },
              [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }, 1e-14),
          binary_row(
              "pow", positive, any, [](const auto& a, const auto& b) { return pow(a, b); },
              [](double a, double b) { return std::exp(b * std::log(a)); }, 1e-12),
          unary_row(
              "pow of a number", any, [](const auto& a) { return pow(2.5, a); },
              [](double a) { return std::pow(2.5, a); }, 1e-14)};
}

std::vector<operation_row> rounding_rows() {
  const draw any = between(-3, 3), halves = one_of({-2.5, -1.5, -0.5, 0.25, 0.5, 1.5, 2.5, 7});
  std::vector<operation_row> rows{
      unary_row(
          "floor", halves, [](const auto& a) { return floor(a); },
          [](double a) { return std::floor(a); }, 0),
      unary_row(
          "ceil", halves, [](const auto& a) { return ceil(a); },
          [](double a) { return std::ceil(a); }, 0),
      unary_row(
          "round", halves, [](const auto& a) { return round(a); },
          [](double a) { return std::nearbyint(a); }, 0),
      unary_row(
          "trunc", halves, [](const auto& a) { return trunc(a); },
          [](double a) { return std::trunc(a); }, 0),
      unary_row(
          "sign", halves, [](const auto& a) { return sign(a); },
          [](double a) { return a > 0   ? 1.0
                                : a < 0 ? -1.0
                                        : 0.0; }, 0)};
  // Step functions have a derivative only away from the steps.
  const std::size_t steps = rows.size();
  for (std::size_t r = 0; r < steps; ++r) {
    rows.push_back(rows[r]);
    rows.back().name += " between";
    rows.back().operands[0].numbers_of = any;
    rows[r].is_differentiable = false;
  }
  rows.push_back(binary_row(
      "remainder", any, one_of({-2, 0.75, 1.5}),
      [](const auto& a, const auto& b) { return remainder(a, b); },
      [](double a, double b) { return a - std::floor(a / b) * b; }, 1e-14));
  rows.push_back(binary_row(
      "fmod", any, one_of({-2, 0.75, 1.5}), [](const auto& a, const auto& b) { return fmod(a, b); },
      [](double a, double b) { return a - std::trunc(a / b) * b; }, 1e-14));
  const draw kinds =
      one_of({0, 1, -2, std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()});
  const auto ask = [&](std::string name, auto f, auto loop) {
    rows.push_back(unary_row(std::move(name), kinds, f, loop));
    rows.back().loop = elementwise_loop(loop, element::boolean);
    rows.back().is_differentiable = false;
  };
  ask(
      "isnan", [](const auto& a) { return isnan(a); }, [](double a) { return std::isnan(a); });
  ask(
      "isinf", [](const auto& a) { return isinf(a); }, [](double a) { return std::isinf(a); });
  ask(
      "isfinite", [](const auto& a) { return isfinite(a); },
      [](double a) { return std::isfinite(a); });
  return rows;
}

std::vector<operation_row> special_rows() {
  const draw any = between(-3, 3), positive = between(0.1, 5), unit = between(0.1, 0.9);
  const draw kinds =
      one_of({0, 1, -2, std::numeric_limits<double>::infinity(),
              -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()});
  std::vector<operation_row> rows{
      binary_row(
          "floor_divide", any, one_of({-2, 0.75, 1.5}),
          [](const auto& a, const auto& b) { return floor_divide(a, b); },
          [](double a, double b) { return std::floor(a / b); }),
      binary_row(
          "hypot", any, any, [](const auto& a, const auto& b) { return hypot(a, b); },
          [](double a, double b) { return std::sqrt(a * a + b * b); }, 1e-14),
      binary_row(
          "copysign", any, any, [](const auto& a, const auto& b) { return copysign(a, b); },
          [](double a, double b) { return b < 0 ? -std::abs(a) : std::abs(a); }),
      binary_row(
          "xlogy", any, positive, [](const auto& a, const auto& b) { return xlogy(a, b); },
          [](double a, double b) { return a * std::log(b); }, 1e-14),
      unary_row(
          "logit", unit, [](const auto& a) { return logit(a); },
          [](double a) { return std::log(a / (1 - a)); }, 1e-14),
      unary_row(
          "deg2rad", any, [](const auto& a) { return deg2rad(a); },
          [](double a) { return a * 3.141592653589793 / 180; }, 1e-14),
      unary_row(
          "rad2deg", any, [](const auto& a) { return rad2deg(a); },
          [](double a) { return a * 180 / 3.141592653589793; }, 1e-12),
      unary_row(
          "sinc", any, [](const auto& a) { return sinc(a); },
          [](double a) { return std::sin(3.141592653589793 * a) / (3.141592653589793 * a); },
          1e-13),
      binary_row(
          "heaviside", any, any, [](const auto& a, const auto& b) { return heaviside(a, b); },
          [](double a, double) { return a < 0 ? 0 : 1; }),
      binary_row(
          "heaviside of whole numbers", whole(-1, 1), any,
          [](const auto& a, const auto& b) { return heaviside(a, b); },
          [](double a, double b) { return a < 0   ? 0
                                          : a > 0 ? 1
                                                  : b; }),
      unary_row(
          "nan_to_num", kinds, [](const auto& a) { return nan_to_num(a); },
          [](double a) {
            const double most = std::numeric_limits<double>::max();
            return std::isnan(a) ? 0 : std::min(std::max(a, -most), most);
          })};
  rows.push_back(binary_row(
      "isclose", kinds, one_of({0, 1, 1 + 1e-7, -2, std::numeric_limits<double>::infinity()}),
      [](const auto& a, const auto& b) { return isclose(a, b); },
      [](double, double) { return false; }));
  rows.back().loop = elementwise_loop(
      [](double a, double b) {
        return a == b || (std::isfinite(b) && std::abs(a - b) <= 1e-8 + 1e-5 * std::abs(b));
      },
      element::boolean);
  for (operation_row& row : rows)
    if (row.name == "deg2rad" || row.name == "rad2deg") row.rounding = 1e-14;
  for (operation_row& row : rows)
    if (row.name == "isclose" || row.name == "floor_divide" || row.name == "nan_to_num" ||
        row.name == "heaviside of whole numbers")
      row.is_differentiable = false;
  return rows;
}

std::vector<operation_row> bitwise_rows() {
  std::vector<operation_row> rows;
  const auto add = [&](std::string name, draw right, auto f, auto loop) {
    rows.push_back(
        {.name = std::move(name),
         .operands = {{{5, 3}, whole(-9, 9), element::i32}, {{3}, std::move(right), element::i32}},
         .apply = [f](const row_tensors& x) -> row_tensors {
           return {f(x[0].as<std::int32_t>(), x[1].as<std::int32_t>())};
         },
         .loop = elementwise_loop(
             [loop](double a, double b) {
               return loop(static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
             },
             element::i32)});
  };
  add(
      "bitwise_and", whole(-9, 9), [](const auto& a, const auto& b) { return bitwise_and(a, b); },
      [](int a, int b) { return a & b; });
  add(
      "bitwise_or", whole(-9, 9), [](const auto& a, const auto& b) { return bitwise_or(a, b); },
      [](int a, int b) { return a | b; });
  const auto key_of = [](int a) { return random_key{static_cast<std::uint64_t>(std::int64_t{a})}; };
  const auto item = [](int n) { return static_cast<std::uint64_t>(std::int64_t{n}); };
  const auto bits = [](random_key key) {
    return static_cast<int>(static_cast<std::uint32_t>(key.value));
  };
  add(
      "fold_in", whole(-9, 9), [](const auto& a, const auto& b) { return fold_in(a, b); },
      [=](int a, int b) { return bits(key_of(a).fold_in(item(b))); });
  add(
      "split_key", whole(-9, 9), [](const auto& a, const auto& b) { return split_key(a, b); },
      [=](int a, int b) { return bits(key_of(a).split(item(b))); });
  add(
      "bitwise_xor", whole(-9, 9), [](const auto& a, const auto& b) { return bitwise_xor(a, b); },
      [](int a, int b) { return a ^ b; });
  add(
      "bitwise_not", whole(0, 4),
      [](const auto& a, const auto& b) { return bitwise_not(bitwise_xor(a, b)); },
      [](int a, int b) { return ~(a ^ b); });
  add(
      "left_shift", whole(0, 4), [](const auto& a, const auto& b) { return left_shift(a, b); },
      [](int a, int b) { return a * (1 << b); });
  add(
      "right_shift", whole(0, 4), [](const auto& a, const auto& b) { return right_shift(a, b); },
      [](int a, int b) { return std::floor(a / static_cast<double>(1 << b)); });
  return rows;
}

std::vector<operation_row> activation_rows() {
  const draw any = between(-3, 3);
  std::vector<operation_row> rows{
      unary_row(
          "silu", any, [](const auto& a) { return silu(a); },
          [](double a) { return a / (1 + std::exp(-a)); }, 1e-14),
      unary_row(
          "softplus", any, [](const auto& a) { return softplus(a); },
          [](double a) { return std::log(1 + std::exp(a)); }, 1e-14),
      unary_row(
          "gelu_exact", any, [](const auto& a) { return gelu_exact(a); },
          [](double a) { return a / 2 * (1 + std::erf(a / std::sqrt(2.0))); }, 1e-14),
      unary_row(
          "hardtanh", any, [](const auto& a) { return hardtanh(a); },
          [](double a) { return a < -1  ? -1
                                : a > 1 ? 1
                                        : a; }, 1e-14),
      unary_row(
          "log_sigmoid", any, [](const auto& a) { return log_sigmoid(a); },
          [](double a) { return -std::log(1 + std::exp(-a)); }, 1e-14),
      unary_row(
          "mish", any, [](const auto& a) { return mish(a); },
          [](double a) { return a * std::tanh(std::log(1 + std::exp(a))); }, 1e-13),
      unary_row(
          "hard_sigmoid", any, [](const auto& a) { return hard_sigmoid(a); },
          [](double a) { return std::min(std::max(a + 3, 0.0), 6.0) / 6; }, 1e-14)};
  rows.push_back(unary_row(
      "relu6", between(-9, 9), [](const auto& a) { return relu6(a); },
      [](double a) { return std::min(std::max(a, 0.0), 6.0); }));
  rows.push_back(unary_row(
      "hard_swish", between(-5, 5), [](const auto& a) { return hard_swish(a); },
      [](double a) { return a * std::min(std::max(a + 3, 0.0), 6.0) / 6; }, 1e-14));
  rows.push_back(unary_row(
      "soft_sign", any, [](const auto& a) { return soft_sign(a); },
      [](double a) { return a / (1 + std::abs(a)); }, 1e-14));
  rows.push_back(unary_row(
      "selu", any, [](const auto& a) { return selu(a); },
      [](double a) {
        return 1.0507009873554805 * (a < 0 ? 1.6732632423543772 * std::expm1(a) : a);
      },
      1e-14));
  rows.push_back(unary_row(
      "celu", any, [](const auto& a) { return celu(a, 2); },
      [](double a) { return a < 0 ? 2 * std::expm1(a / 2) : a; }, 1e-14));
  rows.push_back(unary_row(
      "soft_shrink", any, [](const auto& a) { return soft_shrink(a, 0.5); },
      [](double a) { return a < -0.5  ? a + 0.5
                            : a > 0.5 ? a - 0.5
                                      : 0; }, 1e-14));
  rows.push_back(unary_row(
      "hard_shrink", any, [](const auto& a) { return hard_shrink(a, 0.5); },
      [](double a) { return std::abs(a) > 0.5 ? a : 0; }));
  rows.push_back(unary_row(
      "leaky_relu", any, [](const auto& a) { return leaky_relu(a, 0.125); },
      [](double a) { return a < 0 ? 0.125 * a : a; }));
  rows.push_back(unary_row(
      "elu", any, [](const auto& a) { return elu(a, 1.5); },
      [](double a) { return a < 0 ? 1.5 * std::expm1(a) : a; }, 1e-14));
  rows.push_back(unary_row(
      "clamp", any, [](const auto& a) { return clamp(a, -1, 1.5); },
      [](double a) { return a < -1    ? -1
                            : a > 1.5 ? 1.5
                                      : a; }));
  rows.push_back(
      {.name = "clamp between tensors",
       .operands = {{{5, 3}, between(-3, 3)}, {{3}, between(-2, 0)}, {{5, 1}, between(0, 2)}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {clamp(x[0].as<>(), x[1].as<>(), x[2].as<>())};
       },
       .loop = elementwise_loop(
           [](double a, double low, double high) { return std::min(std::max(a, low), high); }),
       .is_differentiable = true});
  rows.push_back({.name = "lerp",
                  .operands = {{{5, 3}}, {{3}}, {{5, 1}, one_of({0, 0.25, 1})}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {lerp(x[0].as<>(), x[1].as<>(), x[2].as<>())};
                  },
                  .loop = elementwise_loop(
                      [](double a, double b, double weight) { return a + weight * (b - a); }),
                  .is_differentiable = true});
  rows.push_back(
      {.name = "addcmul",
       .operands = {{{5, 3}}, {{3}}, {{5, 1}}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {addcmul(x[0].as<>(), x[1].as<>(), x[2].as<>(), 0.5)};
       },
       .loop = elementwise_loop([](double a, double b, double c) { return a + b * c * 0.5; }),
       .is_differentiable = true});
  return rows;
}

/// Comparisons, `where`, logical functions and casts; only `where` passes gradients.
std::vector<operation_row> choice_rows() {
  std::vector<operation_row> rows;
  const auto compare = [&](std::string name, auto f, auto loop) {
    operation_row row = binary_row(std::move(name), whole(), whole(), f, loop);
    row.loop = elementwise_loop(loop, element::boolean);
    row.is_differentiable = false;
    rows.push_back(row);
  };
  compare(
      "equal", [](const auto& a, const auto& b) { return equal(a, b); },
      [](double a, double b) { return a == b; });
  compare(
      "not_equal", [](const auto& a, const auto& b) { return not_equal(a, b); },
      [](double a, double b) { return a != b; });
  compare(
      "less", [](const auto& a, const auto& b) { return a < b; },
      [](double a, double b) { return a < b; });
  compare(
      "less_equal", [](const auto& a, const auto& b) { return a <= b; },
      [](double a, double b) { return a <= b; });
  compare(
      "greater", [](const auto& a, const auto& b) { return a > b; },
      [](double a, double b) { return a > b; });
  compare(
      "greater_equal", [](const auto& a, const auto& b) { return a >= b; },
      [](double a, double b) { return a >= b; });
  rows.push_back(
      {.name = "where",
       .operands = {{{5, 3}, truth(), element::boolean}, {{3}}, {{5, 1}}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {where(x[0].as<bool>(), x[1].as<>(), x[2].as<>())};
       },
       .loop = elementwise_loop([](double c, double a, double b) { return c != 0 ? a : b; }),
       .is_differentiable = true});
  const auto logical = [&](std::string name, auto f, auto loop) {
    rows.push_back(
        {.name = std::move(name),
         .operands = {{{5, 3}, truth(), element::boolean}, {{3}, truth(), element::boolean}},
         .apply = [f](const row_tensors& x) -> row_tensors {
           return {f(x[0].as<bool>(), x[1].as<bool>())};
         },
         .loop = elementwise_loop(loop, element::boolean)});
  };
  logical(
      "logical_and", [](const auto& a, const auto& b) { return logical_and(a, b); },
      [](double a, double b) { return a != 0 && b != 0; });
  logical(
      "logical_or", [](const auto& a, const auto& b) { return logical_or(a, b); },
      [](double a, double b) { return a != 0 || b != 0; });
  rows.push_back(
      {.name = "logical_not",
       .operands = {{{5, 3}, truth(), element::boolean}},
       .apply = [](const row_tensors& x) -> row_tensors { return {logical_not(x[0].as<bool>())}; },
       .loop = elementwise_loop([](double a) { return a == 0; }, element::boolean)});
  rows.push_back(
      {.name = "cast to i32",
       .operands = {{{5, 3}, between(-3, 3)}},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {cast<std::int32_t>(x[0].as<>())};
       },
       .loop = elementwise_loop([](double a) { return std::trunc(a) + 0.0; }, element::i32)});
  rows.push_back({.name = "cast to f64",
                  .operands = {{{5, 3}, whole(), element::f32}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {cast<double>(x[0].as<float>())};
                  },
                  .loop = elementwise_loop([](double a) { return a; })});
  rows.push_back(unary_row(
      "stop_gradient", whole(), [](const auto& a) { return stop_gradient(a); },
      [](double a) { return a; }));
  rows.back().is_differentiable = false;
  rows.push_back(unary_row(
      "finish_gradient", whole(), [](const auto& a) { return finish_gradient(a); },
      [](double a) { return a; }));
  return rows;
}

std::vector<operation_row> elementwise_rows() {
  std::vector<operation_row> rows;
  for (const auto& family :
       {arithmetic_rows(), transcendental_rows(), choice_rows(), trigonometric_rows(),
        exponential_rows(), rounding_rows(), special_rows(), bitwise_rows(), activation_rows()})
    rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

}  // namespace generated
