// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/matrix_kernels.hpp"
#include "shardwise/operation/eigh.hpp"
#include "shardwise/operation/householder_product.hpp"
#include "shardwise/operation/qr.hpp"
#include "shardwise/operation/svd.hpp"

#include <limits>

namespace shardwise {

template <>
struct kernel_of<orthonormal_columns_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    detail::make_each_matrix<T>(call, 2, [](const detail::solver_view<T>& x) -> matrix {
      const auto columns = x.rows() < x.cols() ? x.rows() : x.cols();
      if (columns == 0) return matrix(x.rows(), columns);
      const Eigen::HouseholderQR<matrix> factors(x.leftCols(columns));
      return factors.householderQ() * matrix::Identity(x.rows(), columns);
    });
  }
};

template <>
struct kernel_of<eigenvectors_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    detail::make_each_matrix<T>(
        call, 2, [](detail::solver_view<T> & x) -> auto& {
          if (x.size() > 0) x = Eigen::SelfAdjointEigenSolver<matrix>(x).eigenvectors();
          return x;
        });
  }
};

template <>
struct kernel_of<singular_vectors_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    detail::make_each_matrix<T>(call, 2,
                                [](const detail::solver_view<T>& x) { return decomposed<T>(x); });
  }

 private:
  /// Returns a row of the singular values, the left vectors and the right ones. All elements are
  /// decomposed as `double`: the decomposition is most of what this file costs to compile.
  template <class T>
  [[nodiscard]] static detail::solver_matrix<T> decomposed(const detail::solver_view<T>& x) {
    using matrix = detail::solver_matrix<double>;
    const auto rows = x.rows(), columns = x.cols();
    matrix out(rows + columns + 1, rows < columns ? rows : columns);
    if (x.size() == 0) return out.cast<T>();
    const Eigen::BDCSVD<matrix> parts(x.template cast<double>(),
                                      Eigen::ComputeThinU | Eigen::ComputeThinV);
    if (parts.info() != Eigen::Success) {
      out.setConstant(std::numeric_limits<double>::quiet_NaN());
      return out.cast<T>();
    }
    out.row(0) = parts.singularValues().transpose();
    out.middleRows(1, rows) = parts.matrixU();
    out.bottomRows(columns) = parts.matrixV();
    // The sign of a pair of vectors is arbitrary.
    for (auto vector : out.bottomRows(rows + columns).colwise()) {
      Eigen::Index largest = 0;
      vector.head(rows).cwiseAbs().maxCoeff(&largest);
      if (vector[largest] < 0) vector = -vector;
    }
    return out.cast<T>();
  }
};

template <>
struct kernel_of<householder_product_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    const detail::matrices_of_block<const T> factors(call.operands[1].as<const T>(), 1);
    const detail::matrices_of_block<T> to(call.results[0].as<T>(), 2);
    matrix tau(factors.rows(), 1);
    detail::for_each_matrix<T>(call, [&](const detail::solver_view<T>& a, index_t i) {
      factors.at(i).read(tau);
      matrix product = matrix::Identity(a.rows(), a.cols());
      if (tau.size() > 0)
        product.applyOnTheLeft(Eigen::householderSequence(a.leftCols(tau.rows()), tau.col(0)));
      to.at(i).write(product);
    });
  }
};

}  // namespace shardwise
