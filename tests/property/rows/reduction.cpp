// SPDX-License-Identifier: BSL-1.0
// Rows of reductions, scans and searches along dimensions.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace generated {

/// A row of a reduction for each of several sets of dimensions, kept or not.
template <class F, class Loop>
void add_reduction_rows(std::vector<operation_row>& rows, const std::string& name,
                        const row_operand& operand, F f, Loop loop, double error = 0) {
  const bool cube = operand.extents.ssize() == 3;
  for (const unsigned dims : {1U, 2U, cube ? 5U : 0U, cube ? 7U : 3U}) {
    message_text words;
    words << text_view(name.c_str(), name.size()) << " over";
    for (int d = 0; d < 3; ++d)
      if ((dims >> d & 1U) != 0) words << ' ' << d;
    const bool keep = dims == 2;
    rows.push_back({.name = words.c_str(),
                    .operands = {operand},
                    .apply = [=](const row_tensors& x) -> row_tensors {
                      return {f(x[0].as<>(), over::of_bits(dims), keep)};
                    },
                    .loop = reduce_loop(dims, keep, loop),
                    .error = error,
                    .rounding = error,
                    .is_differentiable = true});
  }
}

std::vector<operation_row> reduce_rows() {
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
  add_reduction_rows(rows, "sum", cube, of(total), accumulated(0.0, std::plus<>{}));
  add_reduction_rows(rows, "sum of none", {{0, 3}}, of(total), accumulated(0.0, std::plus<>{}));
  add_reduction_rows(rows, "product", {{5, 2, 2}, one_of({-1, 1, 2})},
                     of([](const auto&... x) { return product(x...); }),
                     accumulated(1.0, std::multiplies<>{}));
  add_reduction_rows(rows, "max", {{5, 3, 2}, between(-3, 3)},
                     of([](const auto&... x) { return max(x...); }),
                     accumulated(-infinity, larger));
  add_reduction_rows(rows, "min", {{5, 3, 2}, between(-3, 3)},
                     of([](const auto&... x) { return min(x...); }),
                     accumulated(infinity, smaller));
  for (operation_row& row : rows) {
    if (row.name.starts_with("product")) row.pending = reduction::product;
    if (row.name.starts_with("max")) row.pending = reduction::max;
    if (row.name.starts_with("min")) row.pending = reduction::min;
  }
  add_reduction_rows(
      rows, "mean", cube, of([](const auto&... x) { return mean(x...); }),
      [](const std::vector<double>& all) {
        return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
      },
      1e-14);
  return rows;
}

/// Reductions that are composed of others, with permission to communicate intermediate sums.
std::vector<operation_row> statistic_rows() {
  std::vector<operation_row> rows;
  const row_operand cube{{5, 3, 2}, between(-3, 3)};
  const auto of = [](auto f, auto... more) {
    return [=](const any_tensor<double>& x, const over& dims, bool keep) {
      return keep ? f(x, dims, more..., keep_dims) : f(x, dims, more...);
    };
  };
  using line = std::vector<double>;
  const auto variance_less = [](double less) {
    return [less](const line& all) {
      const auto n = static_cast<double>(all.size());
      double mean = 0, squares = 0;
      for (double a : all) mean += a / n;
      for (double a : all) squares += (a - mean) * (a - mean);
      return squares / (n - less);
    };
  };
  const auto deviation = [variance_less](const line& all) {
    return std::sqrt(variance_less(0)(all));
  };
  const auto total = [](auto f) {
    return [f](const line& all) {
      double out = 0;
      for (double a : all) out += f(a);
      return out;
    };
  };
  const auto length = [total](const line& all) {
    return std::sqrt(total([](double a) { return a * a; })(all));
  };
  const auto log_of_sum = [total](const line& all) {
    return std::log(total([](double a) { return std::exp(a); })(all));
  };
  const auto variance_of = [](const auto&... x) { return variance(x...); };
  const auto deviation_of = [](const auto&... x) { return standard_deviation(x...); };
  const auto logsumexp_of = [](const auto&... x) { return logsumexp(x...); };
  const auto l2_norm_of = [](const auto&... x) { return l2_norm(x...); };
  constexpr auto everywhere = across<"x", "y", "z">;
  const double error = 1e-13;
  add_reduction_rows(rows, "variance", cube, of(variance_of), variance_less(0), error);
  add_reduction_rows(rows, "variance across", cube, of(variance_of, everywhere), variance_less(0),
                     error);
  add_reduction_rows(rows, "variance of a sample", cube, of(variance_of, correction{1}, everywhere),
                     variance_less(1), error);
  add_reduction_rows(rows, "standard_deviation across", cube, of(deviation_of, everywhere),
                     deviation, error);
  add_reduction_rows(rows, "logsumexp", cube, of(logsumexp_of), log_of_sum, error);
  add_reduction_rows(rows, "logsumexp across", cube, of(logsumexp_of, everywhere), log_of_sum,
                     error);
  add_reduction_rows(rows, "l1_norm", cube, of([](const auto&... x) { return l1_norm(x...); }),
                     total([](double a) { return std::abs(a); }), error);
  add_reduction_rows(rows, "l2_norm", cube, of(l2_norm_of), length, error);
  add_reduction_rows(rows, "l2_norm across", cube, of(l2_norm_of, everywhere), length, error);
  add_reduction_rows(rows, "max_norm", cube, of([](const auto&... x) { return max_norm(x...); }),
                     [](const line& all) {
                       double out = 0;
                       for (double a : all) out = std::max(out, std::abs(a));
                       return out;
                     });
  const auto cubic = [](const auto& x, const auto&... options) {
    return lp_norm(x, 3, options...);
  };
  const auto cubic_length = [total](const line& all) {
    return std::cbrt(total([](double a) { return std::abs(a * a * a); })(all));
  };
  add_reduction_rows(rows, "lp_norm", cube, of(cubic), cubic_length, error);
  add_reduction_rows(rows, "lp_norm across", cube, of(cubic, everywhere), cubic_length, error);
  const row_operand gaps{{5, 3, 2}, one_of({-2, 0.5, 3, std::nan("")})};
  const auto is_number = [](double a) { return !std::isnan(a); };
  const auto known = [total, is_number](const line& all) {
    return total([is_number](double a) { return is_number(a) ? a : 0; })(all);
  };
  const auto known_mean = [known, is_number](const line& all) {
    return known(all) / static_cast<double>(std::count_if(all.begin(), all.end(), is_number));
  };
  const auto nanmean_of = [](const auto&... x) { return nanmean(x...); };
  add_reduction_rows(rows, "nansum", gaps, of([](const auto&... x) { return nansum(x...); }), known,
                     error);
  add_reduction_rows(rows, "nanmean", gaps, of(nanmean_of), known_mean, error);
  add_reduction_rows(rows, "nanmean across", gaps, of(nanmean_of, everywhere), known_mean, error);
  const auto nanvar_of = [](const auto&... x) { return nanvar(x...); };
  const auto known_variance = [known_mean, is_number](const line& all) {
    line squares;
    const double mean = known_mean(all);
    for (double a : all)
      if (is_number(a)) squares.push_back((a - mean) * (a - mean));
    return known_mean(squares);
  };
  const auto extreme = [is_number](double first, auto f) {
    return [=](const line& all) {
      double out = first;
      for (double a : all)
        if (is_number(a)) out = f(out, a);
      return out;
    };
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto larger = [](double a, double b) { return std::max(a, b); };
  const auto smaller = [](double a, double b) { return std::min(a, b); };
  const auto nanmax_of = [](const auto&... x) { return nanmax(x...); };
  const auto nanmin_of = [](const auto&... x) { return nanmin(x...); };
  add_reduction_rows(rows, "nanmax", gaps, of(nanmax_of), extreme(-infinity, larger));
  add_reduction_rows(rows, "nanmin", gaps, of(nanmin_of), extreme(infinity, smaller));
  add_reduction_rows(rows, "nanvar across", gaps, of(nanvar_of, everywhere), known_variance, error);
  for (operation_row& row : rows)
    if (row.name.starts_with("nan")) row.is_differentiable = false;
  add_reduction_rows(rows, "nanmax of numbers", cube, of(nanmax_of), extreme(-infinity, larger));
  add_reduction_rows(rows, "nanmin of numbers", cube, of(nanmin_of), extreme(infinity, smaller));
  add_reduction_rows(rows, "nanvar of a sample", cube, of(nanvar_of, correction{1}),
                     variance_less(1), error);
  add_reduction_rows(rows, "nanvar of numbers across", cube, of(nanvar_of, everywhere),
                     variance_less(0), error);
  add_reduction_rows(rows, "nanmean of numbers across", cube, of(nanmean_of, everywhere),
                     known_mean, error);
  return rows;
}

/// Reductions of numbers to `bool` and to counts.
std::vector<operation_row> counting_rows() {
  std::vector<operation_row> rows;
  const row_operand cube{{5, 3, 2}, one_of({0, 0, 0, 1, -2})};
  using line = std::vector<double>;
  const auto add = [&](const std::string& name, auto f, auto loop, element made) {
    const std::size_t first = rows.size();
    add_reduction_rows(
        rows, name, cube,
        [f](const any_tensor<double>& x, const over& dims, bool keep) {
          return keep ? f(x, dims, keep_dims) : f(x, dims);
        },
        loop);
    for (std::size_t r = first; r < rows.size(); ++r) {
      const unsigned dims[] = {1U, 2U, 5U, 7U};
      rows[r].loop = reduce_loop(dims[r - first], dims[r - first] == 2, loop, made);
      rows[r].is_differentiable = false;
    }
  };
  const auto nonzero = [](double a) { return a != 0; };
  add(
      "any", [](const auto&... x) { return any(x...); },
      [=](const line& x) { return std::any_of(x.begin(), x.end(), nonzero); }, element::boolean);
  add(
      "all", [](const auto&... x) { return all(x...); },
      [=](const line& x) { return std::all_of(x.begin(), x.end(), nonzero); }, element::boolean);
  add(
      "count_nonzero", [](const auto&... x) { return count_nonzero(x...); },
      [=](const line& x) { return std::count_if(x.begin(), x.end(), nonzero); }, element::i64);
  return rows;
}

/// Calls along each dimension of a matrix, without communication and with permission over every
/// axis.
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

/// A line in which each element is `f` of the elements up to it.
template <class F>
auto running(F f) {
  return [f](const std::vector<double>& line) {
    std::vector<double> out;
    for (double x : line) out.push_back(out.empty() ? x : f(out.back(), x));
    return std::vector<std::vector<double>>{out};
  };
}

/// A row whose results lack dimension `dim`: each line becomes one element.
inline operation_row without_dimension(operation_row row, int dim) {
  row.loop = [loop = row.loop, dim](const row_arrays& x) {
    row_arrays results;
    for (const host_array& kept : loop(x)) {
      extents_desc left;
      for (int d = 0; d < kept.rank(); ++d)
        if (d != dim) left.push_back(kept.extents[d]);
      results.emplace_back(left, kept.type, kept.values);
    }
    return results;
  };
  return row;
}

std::vector<operation_row> scan_rows() {
  std::vector<operation_row> rows;
  const auto larger = [](double a, double b) { return a < b ? b : a; };
  const auto smaller = [](double a, double b) { return b < a ? b : a; };
  const auto add = [&](const std::string& name, const row_operand& operand, reduction pending,
                       auto f, auto loop) {
    const std::size_t first = rows.size();
    add_line_rows(rows, name, operand, f, running(loop));
    for (std::size_t r = first; r < rows.size(); ++r) rows[r].pending = pending;
  };
  add(
      "cumsum", {{6, 4}}, reduction::sum,
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
          -> row_tensors { return {cumsum<Dim>(x, permitted...)}; },
      std::plus<>{});
  add(
      "cumprod", {{6, 4}, one_of({-1, 1, 2, 0.5})}, reduction::product,
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
          -> row_tensors { return {cumprod<Dim>(x, permitted...)}; },
      std::multiplies<>{});
  add(
      "cummax", {{6, 4}, between(-3, 3)}, reduction::max,
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
          -> row_tensors { return {cummax<Dim>(x, permitted...)}; },
      larger);
  add(
      "cummin", {{6, 4}, between(-3, 3)}, reduction::min,
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
          -> row_tensors { return {cummin<Dim>(x, permitted...)}; },
      smaller);
  // The sums of exponentials, by their definition.
  add_line_rows(
      rows, "logcumsumexp", {{6, 4}, between(-3, 3)},
      []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
          -> row_tensors { return {logcumsumexp<Dim>(x, permitted...)}; },
      [](const std::vector<double>& line) {
        std::vector<double> out;
        double total = 0;
        for (double x : line) out.push_back(std::log(total += std::exp(x)));
        return std::vector<std::vector<double>>{out};
      },
      {element::f64}, 1e-13);
  return rows;
}

std::vector<operation_row> search_rows() {
  std::vector<operation_row> rows;
  using lines = std::vector<std::vector<double>>;
  // With equal numbers and NaN.
  const row_operand numbers_and_nan{
      {6, 4}, one_of({-2, -1, 0, 1, 2, 1, 0, std::numeric_limits<double>::quiet_NaN()})};
  const auto first_of = [](auto is_better) {
    return [is_better](const std::vector<double>& line) {
      std::size_t best = 0;
      for (std::size_t i = 1; i < line.size(); ++i)
        if (line[best] == line[best] && (line[i] != line[i] || is_better(line[i], line[best])))
          best = i;
      return lines{{line[best]}, {static_cast<double>(best)}};
    };
  };
  const auto only_place = [](auto loop) {
    return [loop](const std::vector<double>& line) { return lines{loop(line)[1]}; };
  };
  const auto greatest = first_of(std::greater<>{});
  const auto least = first_of(std::less<>{});
  const std::vector<element> both{element::f64, element::i64}, place{element::i64};
  for (const bool has_nan : {false, true}) {
    const row_operand operand = has_nan ? numbers_and_nan : row_operand{{6, 4}, whole(-2, 2)};
    const std::string of = has_nan ? " of NaN" : "";
    add_line_rows(
        rows, "max_with_index" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>,
                    const auto&... permitted) -> row_tensors {
          const auto [best, at] = max_with_index<Dim>(x, permitted...);
          return {best, at};
        },
        greatest, both);
    add_line_rows(
        rows, "min_with_index" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>,
                    const auto&... permitted) -> row_tensors {
          const auto [best, at] = min_with_index<Dim>(x, permitted...);
          return {best, at};
        },
        least, both);
    add_line_rows(
        rows, "argmax" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
            -> row_tensors { return {argmax<Dim>(x, permitted...)}; },
        only_place(greatest), place);
    add_line_rows(
        rows, "argmin" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
            -> row_tensors { return {argmin<Dim>(x, permitted...)}; },
        only_place(least), place);
  }
  for (operation_row& row : rows) {
    row = without_dimension(row, row.name.find("along 0") != std::string::npos ? 0 : 1);
    if (row.name.find("NaN") != std::string::npos) row.is_differentiable = false;
  }
  return rows;
}

/// What is interpolated at a fraction of a line in order.
inline auto quantile_of_line(double fraction) {
  return [fraction](std::vector<double> line) {
    std::sort(line.begin(), line.end());
    const double place = fraction * static_cast<double>(line.size() - 1);
    const auto before = static_cast<std::size_t>(place);
    const double next = line[std::min(before + 1, line.size() - 1)];
    return line[before] + (place - static_cast<double>(before)) * (next - line[before]);
  };
}
std::vector<operation_row> quantile_rows() {
  const row_operand some{{5, 4}, between(-3, 3)};
  std::vector<operation_row> rows{
      {.name = "median",
       .operands = {some},
       .apply = [](const row_tensors& x) -> row_tensors { return {median<1>(x[0].as<>())}; },
       .loop = reduce_loop(2, false, quantile_of_line(0.5)),
       .error = 1e-14},
      {.name = "median across",
       .operands = {some},
       .apply = [](const row_tensors& x) -> row_tensors {
         return {median<0>(x[0].as<>(), across<"x", "y", "z">)};
       },
       .loop = reduce_loop(1, false, quantile_of_line(0.5)),
       .error = 1e-14},
      {.name = "quantile",
       .operands = {some},
       .apply = [](const row_tensors& x) -> row_tensors { return {quantile<0>(x[0].as<>(), 0.3)}; },
       .loop = reduce_loop(1, false, quantile_of_line(0.3)),
       .error = 1e-14}};
  for (operation_row& row : rows) row.is_differentiable = true;
  for (const index_t length : {4, 1})
    rows.push_back(differentiable_row(
        "trapezoid of " + std::to_string(length), {{{3, length}}},
        [](const row_tensors& x) { return trapezoid<1>(x[0].as<>(), 0.5); },
        [](const row_arrays& x) {
          host_array out({3}, element::f64);
          const index_t n = x[0].extents[1];
          for (index_t i = 0; i < 3; ++i)
            for (index_t k = 1; k < n; ++k) out[i] += (x[0][i * n + k - 1] + x[0][i * n + k]) / 4;
          return row_arrays{out};
        }));
  // The first row is not sorted: what is less is counted all the same.
  rows.push_back({.name = "searchsorted",
                  .operands = {{{5}}, {{4}}},
                  .apply = [](const row_tensors& x) -> row_tensors {
                    return {searchsorted(x[0].as<>(), x[1].as<>()),
                            searchsorted<search_side::right>(x[0].as<>(), x[1].as<>())};
                  },
                  .loop =
                      [](const row_arrays& x) {
                        row_arrays out(2, host_array(x[1].extents, element::i64));
                        for (index_t i = 0; i < x[1].size(); ++i)
                          for (const double bound : x[0].values) {
                            out[0][i] += bound < x[1][i] ? 1 : 0;
                            out[1][i] += bound <= x[1][i] ? 1 : 0;
                          }
                        return out;
                      }});
  rows.push_back({.name = "searchsorted of batches",
                  .operands = {{{2, 5}}, {{2, 4}}},
                  .apply = rows.back().apply,
                  .loop = [](const row_arrays& x) {
                    row_arrays out(2, host_array(x[1].extents, element::i64));
                    for (index_t i = 0; i < x[1].size(); ++i)
                      for (index_t k = 0; k < 5; ++k) {
                        const double bound = x[0][i / 4 * 5 + k];
                        out[0][i] += bound < x[1][i] ? 1 : 0;
                        out[1][i] += bound <= x[1][i] ? 1 : 0;
                      }
                    return out;
                  }});
  rows.push_back({.name = "searchsorted of matrices",
                  .operands = {{{5}}, {{2, 4}}},
                  .apply = rows.back().apply,
                  .loop = rows[rows.size() - 2].loop});
  return rows;
}

std::vector<operation_row> order_rows() {
  std::vector<operation_row> rows;
  using lines = std::vector<std::vector<double>>;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // With equal numbers and infinities.
  const row_operand ends{{6, 4}, one_of({-2, -1, 0, -0.0, 1, 2, nan, infinity, -infinity})};
  const row_operand finite{{6, 4}, between(-3, 3)};
  // Values and indices in order, by a sort that is stable by definition.
  const auto ordered = [](bool is_descending) {
    return [is_descending](const std::vector<double>& line) {
      lines out(2);
      std::vector<bool> taken(line.size(), false);
      for (std::size_t n = 0; n < line.size(); ++n) {
        std::size_t best = line.size();
        for (std::size_t i = 0; i < line.size(); ++i) {
          if (taken[i]) continue;
          const bool is_first = best == line.size() ||
                                (line[best] != line[best] && line[i] == line[i]) ||
                                (is_descending ? line[i] > line[best] : line[i] < line[best]);
          if (is_first) best = i;
        }
        taken[best] = true;
        out[0].push_back(line[best]);
        out[1].push_back(static_cast<double>(best));
      }
      return out;
    };
  };
  const auto part = [](auto loop, std::size_t which) {
    return [=](const std::vector<double>& line) { return lines{loop(line)[which]}; };
  };
  const std::vector<element> both{element::f64, element::i64}, place{element::i64};
  for (const bool is_finite : {true, false}) {
    const row_operand operand = is_finite ? finite : ends;
    const std::string of = is_finite ? "" : " with ends";
    add_line_rows(
        rows, "sort" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
            -> row_tensors { return {sort<Dim>(x, permitted...)}; },
        part(ordered(false), 0));
    add_line_rows(
        rows, "sort descending" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
            -> row_tensors { return {sort<Dim>(x, descending, permitted...)}; },
        part(ordered(true), 0));
    add_line_rows(
        rows, "argsort" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
            -> row_tensors { return {argsort<Dim>(x, permitted...)}; },
        part(ordered(false), 1), place);
    add_line_rows(
        rows, "argsort descending" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>, const auto&... permitted)
            -> row_tensors { return {argsort<Dim>(x, descending, permitted...)}; },
        part(ordered(true), 1), place);
    add_line_rows(
        rows, "top_k 2" + of, operand,
        []<int Dim>(const auto& x, std::integral_constant<int, Dim>,
                    const auto&... permitted) -> row_tensors {
          const auto [best, at] = top_k<Dim, 2>(x, permitted...);
          return {best, at};
        },
        [ordered](const std::vector<double>& line) {
          lines out = ordered(true)(line);
          for (std::vector<double>& all : out) all.resize(2);
          return out;
        },
        both);
  }
  for (operation_row& row : rows)
    if (row.name.find("ends") != std::string::npos) row.is_differentiable = false;
  return rows;
}

/// Triangles and indices, which are legal for every layout.
std::vector<operation_row> place_rows() {
  std::vector<operation_row> rows;
  const auto add = [&](std::string name, auto f, auto loop, element made, bool differentiable) {
    rows.push_back({.name = std::move(name),
                    .operands = {{{2, 4, 5}}},
                    .apply = [f](const row_tensors& x) -> row_tensors { return {f(x[0].as<>())}; },
                    .loop =
                        [loop, made](const row_arrays& x) {
                          host_array out(x[0].extents, made);
                          for (index_t i = 0; i < out.size(); ++i)
                            out[i] = static_cast<double>(loop(x[0][i], out.index_of(i)));
                          return row_arrays{out};
                        },
                    .is_differentiable = differentiable});
  };
  using index = std::vector<index_t>;
  add(
      "tril", [](const auto& x) { return tril(x); },
      [](double a, const index& at) { return at[2] <= at[1] ? a : 0; }, element::f64, true);
  add(
      "tril below", [](const auto& x) { return tril<-1>(x); },
      [](double a, const index& at) { return at[2] < at[1] ? a : 0; }, element::f64, true);
  add(
      "triu above", [](const auto& x) { return triu<1>(x); },
      [](double a, const index& at) { return at[2] > at[1] ? a : 0; }, element::f64, true);
  add(
      "iota_like 1", [](const auto& x) { return iota_like<1>(x); },
      [](double, const index& at) { return at[1]; }, element::i64, false);
  add(
      "iota_like 2", [](const auto& x) { return iota_like<2>(x); },
      [](double, const index& at) { return at[2]; }, element::i64, false);
  add(
      "causal mask", [](const auto& x) { return iota_like<1>(x) >= iota_like<2>(x); },
      [](double, const index& at) { return at[1] >= at[2]; }, element::boolean, false);
  return rows;
}

std::vector<operation_row> reduction_rows() {
  std::vector<operation_row> rows;
  for (const auto& family : {reduce_rows(), statistic_rows(), counting_rows(), scan_rows(),
                             search_rows(), order_rows(), quantile_rows(), place_rows()})
    rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

}  // namespace generated
