// SPDX-License-Identifier: BSL-1.0
// Rows of products with names, of what is composed of them, and of images with channels as pixels.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <cmath>

namespace generated {

namespace {

/// The loop of the Kronecker products of matrices in a batch of the first operand.
row_arrays kron_loop(const row_arrays& x) {
  const index_t m = x[0].extents[1], n = x[0].extents[2], p = x[1].extents[0], q = x[1].extents[1];
  host_array out({x[0].extents[0], m * p, n * q}, x[0].type);
  for (index_t i = 0; i < out.size(); ++i) {
    const std::vector<index_t> at = out.index_of(i);
    out[i] = x[0].at({at[0], at[1] / p, at[2] / q}) * x[1].at({at[1] % p, at[2] % q});
  }
  return {out};
}

/// The loop of the vector products along the dimension, from the last one.
auto cross_loop(int from_last) {
  return [from_last](const row_arrays& x) {
    host_array out(met_extents(x), x[0].type);
    const auto dim = static_cast<std::size_t>(out.rank() - from_last);
    for (index_t i = 0; i < out.size(); ++i) {
      std::vector<index_t> at = out.index_of(i), next = at, last = at;
      next[dim] = (at[dim] + 1) % 3;
      last[dim] = (at[dim] + 2) % 3;
      out[i] = met_element(x[0], next) * met_element(x[1], last) -
               met_element(x[0], last) * met_element(x[1], next);
    }
    return row_arrays{out};
  };
}

/// The covariances of the rows of matrices in a batch, or their correlation coefficients.
auto cov_loop(double less, bool is_scaled) {
  return [=](const row_arrays& x) {
    const index_t batch = x[0].extents[0], rows = x[0].extents[1], seen = x[0].extents[2];
    const auto count = static_cast<double>(seen);
    host_array means({batch, rows}, element::f64), out({batch, rows, rows}, element::f64);
    for (index_t i = 0; i < x[0].size(); ++i) means[i / seen] += x[0][i] / count;
    const auto sum = [&](index_t b, index_t i, index_t j) {
      double all = 0;
      for (index_t k = 0; k < seen; ++k)
        all += (x[0].at({b, i, k}) - means.at({b, i})) * (x[0].at({b, j, k}) - means.at({b, j}));
      return all;
    };
    for (index_t b = 0; b < batch; ++b)
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < rows; ++j)
          out.at({b, i, j}) =
              sum(b, i, j) / (is_scaled ? std::sqrt(sum(b, i, i) * sum(b, j, j)) : count - less);
    return row_arrays{out};
  };
}

row_arrays cdist_loop(const row_arrays& x) {
  const index_t columns = x[1].extents[1];
  host_array out({x[0].extents[0], x[0].extents[1], x[1].extents[0]}, element::f64);
  for (index_t i = 0; i < out.size(); ++i) {
    const std::vector<index_t> at = out.index_of(i);
    double squares = 0;
    for (index_t k = 0; k < columns; ++k)
      squares += std::pow(x[0].at({at[0], at[1], k}) - x[1].at({at[2], k}), 2);
    out[i] = std::sqrt(squares);
  }
  return {out};
}

}  // namespace

std::vector<operation_row> product_rows() {
  std::vector<operation_row> rows;
  constexpr auto everywhere = across<"x", "y", "z">;
  const double error = 1e-12;
  const auto add = [&](std::string name, std::vector<row_operand> operands, auto f, auto loop,
                       double allowed = 0) {
    rows.push_back(differentiable_row(std::move(name), std::move(operands), f, loop, allowed));
  };
  const draw some = between(-2, 2);
  add(
      "kron", {{{2, 4, 2}}, {{2, 3}}},
      [](const row_tensors& x) { return kron(x[0].as<>(), x[1].as<>()); }, &kron_loop);
  add(
      "kron across", {{{1, 5, 2}}, {{4, 2}}},
      [=](const row_tensors& x) { return kron(x[0].as<>(), x[1].as<>(), everywhere); }, &kron_loop);
  add(
      "kron of a row and a column", {{{2, 1, 3}}, {{4, 1}}},
      [](const row_tensors& x) { return kron(x[0].as<>(), x[1].as<>()); }, &kron_loop);

  add(
      "cross", {{{4, 3}}, {{4, 3}}},
      [](const row_tensors& x) { return cross(x[0].as<>(), x[1].as<>()); }, cross_loop(1));
  add(
      "cross of one vector across", {{{4, 3}}, {{3}}},
      [=](const row_tensors& x) { return cross(x[0].as<>(), x[1].as<>(), everywhere); },
      cross_loop(1));
  add(
      "cross along the first dimension", {{{3, 4}}, {{3, 1}}},
      [](const row_tensors& x) { return cross<0>(x[0].as<>(), x[1].as<>()); }, cross_loop(2));

  const row_operand seen{{2, 3, 5}, some};
  add(
      "cov", {seen}, [](const row_tensors& x) { return cov(x[0].as<>()); }, cov_loop(1, false),
      error);
  add(
      "cov of a population across", {seen},
      [=](const row_tensors& x) { return cov(x[0].as<>(), correction{0}, everywhere); },
      cov_loop(0, false), error);
  add(
      "corrcoef", {seen}, [](const row_tensors& x) { return corrcoef(x[0].as<>()); },
      cov_loop(0, true), error);
  add(
      "corrcoef across", {seen},
      [=](const row_tensors& x) { return corrcoef(x[0].as<>(), everywhere); }, cov_loop(0, true),
      error);

  add(
      "cdist", {{{2, 3, 2}, some}, {{4, 2}, some}},
      [](const row_tensors& x) { return cdist(x[0].as<>(), x[1].as<>()); }, &cdist_loop, error);
  add(
      "cdist across", {{{1, 3, 4}, some}, {{2, 4}, some}},
      [=](const row_tensors& x) { return cdist(x[0].as<>(), x[1].as<>(), everywhere); },
      &cdist_loop, error);

  // The index in the image of an element of the channels, and back.
  using index = std::vector<index_t>;
  const auto as_channel = [](const index& at) {
    return index{at[0] * 4 + at[1] % 2 * 2 + at[2] % 2, at[1] / 2, at[2] / 2};
  };
  const auto as_pixel = [](const index& at) {
    return index{at[0] / 4, at[1] * 2 + at[0] / 2 % 2, at[2] * 2 + at[0] % 2};
  };
  add(
      "pixel_shuffle", {{{8, 3, 2}}},
      [](const row_tensors& x) { return pixel_shuffle<2>(x[0].as<>()); },
      moved_loop({2, 6, 4}, as_channel));
  add(
      "pixel_shuffle across", {{{4, 3, 1}}},
      [=](const row_tensors& x) { return pixel_shuffle<2>(x[0].as<>(), everywhere); },
      moved_loop({1, 6, 2}, as_channel));
  add(
      "pixel_unshuffle", {{{2, 6, 4}}},
      [](const row_tensors& x) { return pixel_unshuffle<2>(x[0].as<>()); },
      moved_loop({8, 3, 2}, as_pixel));
  add(
      "pixel_unshuffle across", {{{3, 4, 2}}},
      [=](const row_tensors& x) { return pixel_unshuffle<2>(x[0].as<>(), everywhere); },
      moved_loop({12, 2, 1}, as_pixel));
  return rows;
}

}  // namespace generated
