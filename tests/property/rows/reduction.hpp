// SPDX-License-Identifier: BSL-1.0
// Rows of folds, scans and searches along dimensions.
#pragma once

#include "property/operation_row.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace generated {

/// A row of a fold for each of several choices of dimensions, kept or not.
template <class F, class Loop>
void add_fold_rows(std::vector<operation_row>& rows, const std::string& name,
                   const row_operand& operand, F f, Loop loop, double error = 0) {
  const bool cube = operand.extents.ssize() == 3;
  for (const unsigned dims : {1U, 2U, cube ? 5U : 0U, cube ? 7U : 3U}) {
    sentence words;
    words << text_view(name.c_str(), name.size()) << " over";
    for (int d = 0; d < 3; ++d)
      if ((dims >> d & 1U) != 0) words << ' ' << d;
    const bool keep = dims == 2;
    rows.push_back({.name = words.c_str(),
                    .operands = {operand},
                    .apply = [=](const row_tensors& x) -> row_tensors {
                      return {f(x[0].as<>(), over::of_bits(dims), keep)};
                    },
                    .loop = fold_loop(dims, keep, loop),
                    .error = error,
                    .rounding = error,
                    .is_differentiable = true});
  }
}

inline std::vector<operation_row> fold_rows() {
  std::vector<operation_row> rows;
  const row_operand cube{{5, 3, 2}};
  const auto of = [](auto f) {
    return [f](const any_tensor<double>& x, const over& dims, bool keep) {
      return keep ? f(x, dims, keep_dims) : f(x, dims);
    };
  };
  const auto accumulated = [](double first, auto f) {
    return [=](const std::vector<double>& all) {
      return std::accumulate(all.begin(), all.end(), first, f);
    };
  };
  const auto larger = [](double a, double b) { return a < b ? b : a; };
  const auto smaller = [](double a, double b) { return b < a ? b : a; };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto total = [](const auto&... x) { return sum(x...); };
  add_fold_rows(rows, "sum", cube, of(total), accumulated(0.0, std::plus<>{}));
  add_fold_rows(rows, "sum of none", {{0, 3}}, of(total), accumulated(0.0, std::plus<>{}));
  add_fold_rows(rows, "product", {{5, 2, 2}, one_of({-1, 1, 2})},
                of([](const auto&... x) { return product(x...); }),
                accumulated(1.0, std::multiplies<>{}));
  add_fold_rows(rows, "max", {{5, 3, 2}, between(-3, 3)},
                of([](const auto&... x) { return max(x...); }), accumulated(-infinity, larger));
  add_fold_rows(rows, "min", {{5, 3, 2}, between(-3, 3)},
                of([](const auto&... x) { return min(x...); }), accumulated(infinity, smaller));
  for (operation_row& row : rows) {
    if (row.name.starts_with("product")) row.pending = reduction::product;
    if (row.name.starts_with("max")) row.pending = reduction::max;
    if (row.name.starts_with("min")) row.pending = reduction::min;
  }
  add_fold_rows(
      rows, "mean", cube, of([](const auto&... x) { return mean(x...); }),
      [](const std::vector<double>& all) {
        return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
      },
      1e-14);
  return rows;
}

/// Calls along a dimension for each dimension of a matrix, alone and with the dimension fetched
/// over every axis.
template <class F, class Loop>
void add_line_rows(std::vector<operation_row>& rows, const std::string& name,
                   const row_operand& operand, F f, Loop loop,
                   const std::vector<element>& made = {element::f64}, double error = 0) {
  const auto add = [&](auto dim, const std::string& how, auto... permitted) {
    rows.push_back({.name = name + " along " + std::to_string(dim()) + how,
                    .operands = {operand},
                    .apply = [=](const row_tensors& x) -> row_tensors {
                      return f(x[0].as<>(), dim, permitted...);
                    },
                    .loop = line_loop(dim(), loop, made),
                    .error = error,
                    .rounding = error,
                    .is_differentiable = made.front() == element::f64});
  };
  constexpr std::integral_constant<int, 0> rows_of;
  constexpr std::integral_constant<int, 1> columns_of;
  add(rows_of, "");
  add(columns_of, "");
  add(rows_of, " across", across<"x", "y", "z">);
  add(columns_of, " across", across<"x", "y", "z">);
}

/// A line in which each element is what `f` makes of those up to it.
template <class F>
auto running(F f) {
  return [f](const std::vector<double>& line) {
    std::vector<double> out;
    for (double x : line) out.push_back(out.empty() ? x : f(out.back(), x));
    return std::vector<std::vector<double>>{out};
  };
}

inline std::vector<operation_row> line_rows() {
  std::vector<operation_row> rows;
  add_line_rows(
      rows, "cumsum", {{6, 4}},
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
          -> row_tensors { return {cumsum<Dim>(x, permitted...)}; },
      running(std::plus<>{}));
  add_line_rows(
      rows, "max_with_index", {{6, 4}, whole(-2, 2)},
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>,
                  const auto&... permitted) -> row_tensors {
        const auto [best, place] = max_with_index<Dim>(x, permitted...);
        return {best, place};
      },
      [](const std::vector<double>& line) {
        const auto found = std::max_element(line.begin(), line.end());
        return std::vector<std::vector<double>>{{*found},
                                                {static_cast<double>(found - line.begin())}};
      },
      {element::f64, element::i64});
  // Results of a search have no such dimension.
  for (operation_row& row : rows)
    if (row.name.starts_with("max_with_index"))
      row.loop = [loop = row.loop, dim = row.name.find("along 0") != std::string::npos ? 0 : 1](
                     const row_arrays& x) {
        row_arrays results;
        for (host_array& kept : loop(x)) {
          extents_desc left;
          for (int d = 0; d < kept.rank(); ++d)
            if (d != dim) left.push_back(kept.extents[d]);
          results.emplace_back(left, kept.type, kept.values);
        }
        return results;
      };
  return rows;
}

inline std::vector<operation_row> reduction_rows() {
  std::vector<operation_row> rows = fold_rows();
  const std::vector<operation_row> lines = line_rows();
  rows.insert(rows.end(), lines.begin(), lines.end());
  return rows;
}

}  // namespace generated
