// SPDX-License-Identifier: BSL-1.0
// Rows of linear algebra on batches of matrices.
#include "property/rows/tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace generated {

/// A matrix on the host, by rows.
using dense = std::vector<std::vector<double>>;

inline dense zeros_of(std::size_t rows, std::size_t columns) {
  return dense(rows, std::vector<double>(columns, 0));
}
inline dense transposed(const dense& x) {
  dense out = zeros_of(x.empty() ? 0 : x[0].size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x[i].size(); ++j) out[j][i] = x[i][j];
  return out;
}
/// With a diagonal that is larger than the rest of a row, so that no pivot is near 0.
inline dense dominant(dense x) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i][i] += 6;
  return x;
}
inline dense symmetric(const dense& x) {
  dense out = transposed(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) out[i][j] = (out[i][j] + x[i][j]) / 2;
  return out;
}
/// The lower or the upper triangle.
inline dense triangle_of(dense x, bool upper) {
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x[i].size(); ++j)
      if (upper ? j < i : j > i) x[i][j] = 0;
  return x;
}
/// The solutions of linear systems by elimination; the product of the pivots is the determinant.
inline std::pair<dense, double> eliminated(dense a, dense b) {
  double determinant = 1;
  for (std::size_t k = 0; k < a.size(); ++k) {
    determinant *= a[k][k];
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i == k) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j < a.size(); ++j) a[i][j] -= factor * a[k][j];
      for (std::size_t j = 0; j < b[i].size(); ++j) b[i][j] -= factor * b[k][j];
    }
  }
  for (std::size_t k = 0; k < a.size(); ++k)
    for (double& x : b[k]) x /= a[k][k];
  return {b, determinant};
}
inline dense identity_of(std::size_t n) {
  dense out = zeros_of(n, n);
  for (std::size_t i = 0; i < n; ++i) out[i][i] = 1;
  return out;
}
inline dense cholesky_of(const dense& a) {
  dense l = zeros_of(a.size(), a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double left = a[i][j];
      for (std::size_t k = 0; k < j; ++k) left -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(left) : left / l[j][j];
    }
  return l;
}
/// The QR decomposition with a positive diagonal, by the method of Gram and Schmidt.
inline std::pair<dense, dense> qr_of(const dense& x) {
  const std::size_t rows = x.size(), columns = x[0].size(), made = std::min(rows, columns);
  dense q = zeros_of(rows, made), r = zeros_of(made, columns);
  for (std::size_t j = 0; j < columns; ++j) {
    std::vector<double> left(rows);
    for (std::size_t i = 0; i < rows; ++i) left[i] = x[i][j];
    for (std::size_t k = 0; k < std::min(j, made); ++k) {
      for (std::size_t i = 0; i < rows; ++i) r[k][j] += q[i][k] * left[i];
      for (std::size_t i = 0; i < rows; ++i) left[i] -= r[k][j] * q[i][k];
    }
    if (j >= made) continue;
    for (double e : left) r[j][j] += e * e;
    r[j][j] = std::sqrt(r[j][j]);
    for (std::size_t i = 0; i < rows; ++i) q[i][j] = left[i] / r[j][j];
  }
  return {q, r};
}
/// The eigenvalues in ascending order and the eigenvectors, by the method of Jacobi.
inline std::pair<std::vector<double>, dense> eigh_of(dense a) {
  const std::size_t n = a.size();
  dense v = identity_of(n);
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        const auto turn = [&](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::size_t k = 0; k < n; ++k) turn(a[k][p], a[k][q]);
        for (std::size_t k = 0; k < n; ++k) turn(a[p][k], a[q][k]);
        for (std::size_t k = 0; k < n; ++k) turn(v[k][p], v[k][q]);
      }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      if (values[j] < values[i]) {
        std::swap(values[i], values[j]);
        for (std::size_t k = 0; k < n; ++k) std::swap(v[k][i], v[k][j]);
      }
  return {values, v};
}

/// The reduced singular value decomposition by the method of Jacobi, applied to the rows or
/// columns, whichever are fewer.
struct svd_parts {
  dense u;
  std::vector<double> s;
  dense vh;
};
inline svd_parts svd_of(const dense& x) {
  if (x.size() < x[0].size()) {
    const svd_parts turned = svd_of(transposed(x));
    return {transposed(turned.vh), turned.s, transposed(turned.u)};
  }
  const std::size_t n = x[0].size();
  dense columns = transposed(x), vh = identity_of(n);
  const auto product = [&](std::size_t p, std::size_t q) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += columns[p][i] * columns[q][i];
    return sum;
  };
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * product(p, q), product(q, q) - product(p, p));
        const double c = std::cos(angle), s = std::sin(angle);
        for (dense* each : {&columns, &vh})
          for (std::size_t i = 0; i < (*each)[p].size(); ++i) {
            const double old = (*each)[p][i];
            (*each)[p][i] = c * old - s * (*each)[q][i];
            (*each)[q][i] = s * old + c * (*each)[q][i];
          }
      }
  std::vector<double> values;
  for (std::size_t p = 0; p < n; ++p) {
    values.push_back(std::sqrt(product(p, p)));
    for (double& e : columns[p]) e /= values[p];
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      if (values[j] > values[i]) {
        std::swap(values[i], values[j]);
        std::swap(columns[i], columns[j]);
        std::swap(vh[i], vh[j]);
      }
  return {transposed(columns), values, vh};
}
/// The same with the largest entry of each left vector positive.
inline svd_parts signed_svd_of(const dense& x) {
  svd_parts out = svd_of(x);
  for (std::size_t j = 0; j < out.s.size(); ++j) {
    double largest = 0;
    for (const std::vector<double>& row : out.u)
      if (std::abs(row[j]) > std::abs(largest)) largest = row[j];
    if (largest >= 0) continue;
    for (std::vector<double>& row : out.u) row[j] = -row[j];
    for (double& e : out.vh[j]) e = -e;
  }
  return out;
}

/// The first columns of the product of reflectors, applied from the last one to the first.
inline dense reflectors_of(const dense& a, const dense& tau) {
  const std::size_t rows = a.size(), columns = a[0].size();
  dense out = zeros_of(rows, columns);
  for (std::size_t i = 0; i < columns; ++i) out[i][i] = 1;
  for (std::size_t k = tau.size(); k-- > 0;)
    for (std::size_t j = 0; j < columns; ++j) {
      double along = out[k][j];
      for (std::size_t i = k + 1; i < rows; ++i) along += a[i][k] * out[i][j];
      along *= tau[k][0];
      out[k][j] -= along;
      for (std::size_t i = k + 1; i < rows; ++i) out[i][j] -= a[i][k] * along;
    }
  return out;
}

/// The loop of a function of one matrix of each operand, over the batch, the first dimension; a
/// vector is a matrix with one column. `f(matrices)` returns a matrix for each result, and `ranks`
/// states whether it stands for a matrix, a vector or a number: 2, 1 or 0.
template <class F>
auto matrix_loop(F f, std::vector<int> ranks) {
  return [=](const row_arrays& x) {
    row_arrays out;
    const index_t batch = x[0].extents[0];
    for (index_t b = 0; b < batch; ++b) {
      std::vector<dense> given;
      for (const host_array& each : x) {
        const index_t rows = each.extents[1], columns = each.rank() > 2 ? each.extents[2] : 1;
        dense one = zeros_of(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
        for (index_t i = 0; i < rows * columns; ++i)
          one[static_cast<std::size_t>(i / columns)][static_cast<std::size_t>(i % columns)] =
              each[b * rows * columns + i];
        given.push_back(one);
      }
      const std::vector<dense> made = f(given);
      for (std::size_t r = 0; r < made.size(); ++r) {
        const index_t size = static_cast<index_t>(made[r].size() * made[r][0].size());
        if (b == 0) {
          extents_desc extents{batch};
          if (ranks[r] > 0) extents.push_back(static_cast<index_t>(made[r].size()));
          if (ranks[r] > 1) extents.push_back(static_cast<index_t>(made[r][0].size()));
          out.emplace_back(extents, element::f64);
        }
        index_t at = b * size;
        for (const std::vector<double>& row : made[r])
          for (double e : row) out[r][at++] = e;
      }
    }
    return out;
  };
}

std::vector<operation_row> matrix_rows() {
  std::vector<operation_row> rows;
  using matrices = std::vector<dense>;
  using tensor = any_tensor<double>;
  const draw some = between(-1, 1);
  const auto dominant_tensor = [](const tensor& x) {
    return where(equal(iota_like<1>(x), iota_like<2>(x)), x + 6.0, x);
  };
  const auto symmetric_tensor = [](const tensor& x) { return (x + transpose<0, 2, 1>(x)) * 0.5; };
  const auto add = [&](std::string name, std::vector<row_operand> operands, auto f, auto loop,
                       std::vector<int> ranks) {
    for (row_operand& operand : operands) operand.numbers_of = some;
    rows.push_back({.name = std::move(name),
                    .operands = std::move(operands),
                    .apply = f,
                    .loop = matrix_loop(loop, std::move(ranks)),
                    .error = 1e-12,
                    .rounding = 1e-12,
                    .is_differentiable = true});
  };
  const auto positive = [=](const row_tensors& x) {
    return dominant_tensor(symmetric_tensor(x[0].as<>()));
  };
  const auto on_columns = [&](std::string name, auto f, auto loop) {
    for (const bool vectors : {false, true})
      add(name + (vectors ? " of vectors" : ""),
          {{{2, 3, 3}}, vectors ? row_operand{{2, 3}} : row_operand{{2, 3, 2}}}, f, loop,
          {vectors ? 1 : 2});
  };

  add(
      "cholesky", {{{2, 4, 4}}},
      [=](const row_tensors& x) -> row_tensors { return {linalg::cholesky(positive(x))}; },
      [](const matrices& x) { return matrices{cholesky_of(dominant(symmetric(x[0])))}; }, {2});
  on_columns(
      "solve",
      [=](const row_tensors& x) -> row_tensors {
        return {linalg::solve(dominant_tensor(x[0].as<>()), x[1].as<>())};
      },
      [](const matrices& x) { return matrices{eliminated(dominant(x[0]), x[1]).first}; });
  for (const bool upper : {false, true})
    for (const bool turned : {false, true})
      on_columns(
          std::string("triangular_solve") + (upper ? " upper" : " lower") +
              (turned ? " transposed" : ""),
          [=](const row_tensors& x) -> row_tensors {
            using linalg::triangular;
            const tensor a = dominant_tensor(x[0].as<>()), b = x[1].as<>();
            if (upper && turned)
              return {linalg::triangular_solve<triangular::upper_transposed>(a, b)};
            if (upper) return {linalg::triangular_solve<triangular::upper>(a, b)};
            if (turned) return {linalg::triangular_solve<triangular::lower_transposed>(a, b)};
            return {linalg::triangular_solve(a, b)};
          },
          [=](const matrices& x) {
            const dense a = triangle_of(dominant(x[0]), upper);
            return matrices{eliminated(turned ? transposed(a) : a, x[1]).first};
          });
  add(
      "inverse", {{{3, 3, 3}}},
      [=](const row_tensors& x) -> row_tensors {
        return {linalg::inverse(dominant_tensor(x[0].as<>()))};
      },
      [](const matrices& x) {
        return matrices{eliminated(dominant(x[0]), identity_of(x[0].size())).first};
      },
      {2});
  add(
      "determinant", {{{3, 3, 3}}},
      [=](const row_tensors& x) -> row_tensors { return {linalg::determinant(x[0].as<>())}; },
      [](const matrices& x) {
        return matrices{{{eliminated(x[0], identity_of(x[0].size())).second}}};
      },
      {0});
  add(
      "slogdet", {{{3, 3, 3}}},
      [=](const row_tensors& x) -> row_tensors {
        const auto [sign, size] = linalg::slogdet(x[0].as<>());
        return {sign, size};
      },
      [](const matrices& x) {
        const double found = eliminated(x[0], identity_of(x[0].size())).second;
        return matrices{{{found < 0 ? -1.0 : 1.0}}, {{std::log(std::abs(found))}}};
      },
      {0, 0});
  for (const extents_desc& extents : {extents_desc{2, 4, 3}, {2, 3, 3}, {2, 2, 4}})
    add(
        "qr of " + std::to_string(extents[1]) + " rows", {{extents}},
        [made = std::min(extents[1], extents[2])](const row_tensors& x) -> row_tensors {
          const auto [q, r] = linalg::qr(x[0].as<>());
          // Signs are chosen so that the diagonal is positive.
          const tensor square = made == 2 ? slice_in_dim<2, 0, 2>(r) : slice_in_dim<2, 0, 3>(r);
          const tensor signs = sign(diagonal(square));
          return {q * unsqueeze<1>(signs), r * unsqueeze<2>(signs)};
        },
        [](const matrices& x) {
          const auto [q, r] = qr_of(x[0]);
          return matrices{q, r};
        },
        {2, 2});
  const auto decomposed = [](const matrices& x) {
    const auto [values, vectors] = eigh_of(symmetric(x[0]));
    dense column = zeros_of(values.size(), 1), squares = vectors;
    for (std::size_t i = 0; i < values.size(); ++i) column[i][0] = values[i];
    for (std::vector<double>& row : squares)
      for (double& e : row) e *= e;
    return matrices{column, squares};
  };
  // Eigenvectors have no sign of their own.
  add("eigh", {{{2, 3, 3}}},
      [](const row_tensors& x) -> row_tensors {
        const auto [values, vectors] = linalg::eigh(x[0].as<>());
        return {values, square(vectors)};
      },
      decomposed, {1, 2});
  add("eigh across", {{{2, 3, 3}}},
      [](const row_tensors& x) -> row_tensors {
        const auto [values, vectors] = linalg::eigh(x[0].as<>(), across<"x", "y", "z">);
        return {values, square(vectors)};
      },
      decomposed, {1, 2});
  const auto parts_of = [](const matrices& x) {
    const auto [u, s, vh] = signed_svd_of(x[0]);
    dense column = zeros_of(s.size(), 1);
    for (std::size_t i = 0; i < s.size(); ++i) column[i][0] = s[i];
    return matrices{u, column, vh};
  };
  for (const extents_desc& extents : {extents_desc{2, 4, 3}, {2, 3, 3}, {2, 2, 4}})
    add("svd of " + std::to_string(extents[1]) + " rows", {{extents}},
        [](const row_tensors& x) -> row_tensors {
          const auto [u, s, vh] = linalg::svd(x[0].as<>());
          return {u, s, vh};
        },
        parts_of, {2, 1, 2});
  for (const extents_desc& extents : {extents_desc{2, 5, 3}, {2, 3, 3}})
    for (const index_t used : {index_t{2}, index_t{3}})
      add(
          "householder_product of " + std::to_string(extents[1]) + " rows and " +
              std::to_string(used) + " reflectors",
          {{extents}, {{2, used}}},
          [](const row_tensors& x) -> row_tensors {
            return {linalg::householder_product(x[0].as<>(), x[1].as<>())};
          },
          [](const matrices& x) { return matrices{reflectors_of(x[0], x[1])}; }, {2});
  add("svd across", {{{2, 3, 2}}},
      [](const row_tensors& x) -> row_tensors {
        const auto [u, s, vh] = linalg::svd(x[0].as<>(), across<"x", "y", "z">);
        return {u, s, vh};
      },
      parts_of, {2, 1, 2});
  add(
      "inverse across", {{{2, 3, 3}}},
      [=](const row_tensors& x) -> row_tensors {
        return {linalg::inverse(dominant_tensor(x[0].as<>()), across<"x", "y", "z">)};
      },
      [](const matrices& x) {
        return matrices{eliminated(dominant(x[0]), identity_of(x[0].size())).first};
      },
      {2});
  const auto product = [](const dense& a, const dense& b) {
    dense out = zeros_of(a.size(), b[0].size());
    for (std::size_t i = 0; i < a.size(); ++i)
      for (std::size_t k = 0; k < b.size(); ++k)
        for (std::size_t j = 0; j < b[0].size(); ++j) out[i][j] += a[i][k] * b[k][j];
    return out;
  };
  add(
      "matrix_power 5", {{{2, 3, 3}}},
      [](const row_tensors& x) -> row_tensors { return {linalg::matrix_power<5>(x[0].as<>())}; },
      [=](const matrices& x) {
        dense out = x[0];
        for (int i = 1; i < 5; ++i) out = product(out, x[0]);
        return matrices{out};
      },
      {2});
  add(
      "matrix_power -2 and 0 across", {{{2, 3, 3}}},
      [=](const row_tensors& x) -> row_tensors {
        const tensor a = dominant_tensor(x[0].as<>());
        return {linalg::matrix_power<-2>(a, across<"x", "y", "z">),
                linalg::matrix_power<0>(a, across<"x", "y", "z">)};
      },
      [=](const matrices& x) {
        const dense one = identity_of(x[0].size());
        const dense inverse = eliminated(dominant(x[0]), one).first;
        return matrices{product(inverse, inverse), one};
      },
      {2, 2});
  // By the normal equations of the smaller side.
  const auto pinv_of = [=](const dense& x) {
    const bool is_wide = x.size() < x[0].size();
    const dense tall = is_wide ? transposed(x) : x;
    const dense made = eliminated(product(transposed(tall), tall), transposed(tall)).first;
    return is_wide ? transposed(made) : made;
  };
  for (const extents_desc& extents : {extents_desc{2, 4, 3}, {2, 2, 4}}) {
    const std::string of = " of " + std::to_string(extents[1]) + " rows";
    add(
        "pinv" + of, {{extents}},
        [](const row_tensors& x) -> row_tensors { return {linalg::pinv(x[0].as<>())}; },
        [=](const matrices& x) { return matrices{pinv_of(x[0])}; }, {2});
    for (const bool vectors : {false, true})
      add(
          "lstsq" + of + (vectors ? " of vectors" : ""),
          {{extents}, vectors ? row_operand{{2, extents[1]}} : row_operand{{2, extents[1], 2}}},
          [](const row_tensors& x) -> row_tensors {
            return {linalg::lstsq(x[0].as<>(), x[1].as<>())};
          },
          [=](const matrices& x) { return matrices{product(pinv_of(x[0]), x[1])}; },
          {vectors ? 1 : 2});
  }
  add(
      "pinv across", {{{2, 3, 2}}},
      [](const row_tensors& x) -> row_tensors {
        return {linalg::pinv(x[0].as<>(), across<"x", "y", "z">)};
      },
      [=](const matrices& x) { return matrices{pinv_of(x[0])}; }, {2});
  add(
      "lstsq across", {{{2, 3, 2}}, {{2, 3, 2}}},
      [](const row_tensors& x) -> row_tensors {
        return {linalg::lstsq(x[0].as<>(), x[1].as<>(), across<"x", "y", "z">)};
      },
      [=](const matrices& x) { return matrices{product(pinv_of(x[0]), x[1])}; }, {2});
  return rows;
}

}  // namespace generated
