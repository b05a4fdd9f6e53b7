// SPDX-License-Identifier: BSL-1.0
// Rows of functions that are applied element by element.
#pragma once

#include "property/operation_row.hpp"

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

inline std::vector<operation_row> arithmetic_rows() {
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

inline std::vector<operation_row> transcendental_rows() {
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

/// Comparisons, choices, truth values and casts, which no gradient passes but where it is chosen.
inline std::vector<operation_row> choice_rows() {
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
  return rows;
}

inline std::vector<operation_row> elementwise_rows() {
  std::vector<operation_row> rows;
  for (const auto& family : {arithmetic_rows(), transcendental_rows(), choice_rows()})
    rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

}  // namespace generated
