// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/eigen_solvers.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/cholesky.hpp"
#include "shardwise/operation/determinant.hpp"
#include "shardwise/operation/solve.hpp"

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace shardwise {

namespace detail {

template <class T>
using solver_matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
/// A matrix in memory of its own.
template <class T>
using solver_view = Eigen::Map<solver_matrix<T>>;
/// Right-hand sides by rows: triangular systems with many columns are solved in half the time.
template <class T>
using solver_rows = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// The number of columns from which right-hand sides are solved by rows.
inline constexpr index_t many_columns = 12;

/// A factorisation in the memory of the matrix.
template <class T>
using pivoted_factors = Eigen::PartialPivLU<Eigen::Ref<solver_matrix<T>>>;

/// A kernel that is compiled for `float` and `double`. Other elements are computed on wide copies,
/// so that the solvers are not compiled for them.
struct matrix_kernel {
  static constexpr bool widens_halves = true;
};

/// A matrix of a block, its last two dimensions, or a single column.
template <class T>
struct matrix_of_block {
  T* data;
  index_t rows, columns;
  index_t row_stride, column_stride;

  /// Copies it to a matrix of its size.
  template <class Matrix>
  void read(Matrix& to) const {
    using element_type = std::remove_const_t<T>;
    if constexpr (Matrix::IsRowMajor)
      copy_block<element_type>({data, {rows, columns}, {row_stride, column_stride}},
                               {to.data(), {rows, columns}, {columns, 1}});
    else
      copy_block<element_type>({data, {columns, rows}, {column_stride, row_stride}},
                               {to.data(), {columns, rows}, {rows, 1}});
  }
  template <class Matrix>
  void write(const Matrix& from) const {
    copy_block<T>({from.data(), {rows, columns}, {from.rowStride(), from.colStride()}},
                  {data, {rows, columns}, {row_stride, column_stride}});
  }
};

/// The matrices of a block, whose last `dims` dimensions are those of one matrix.
template <class T>
class matrices_of_block {
 public:
  matrices_of_block(const strided<T>& block, int dims) : block_(block) {
    const int rank = block.rank();
    if (dims > 0) {
      const int row = rank - dims;
      first_.rows = block.extents[row];
      first_.row_stride = block.strides[row];
    }
    if (dims > 1) {
      first_.columns = block.extents[rank - 1];
      first_.column_stride = block.strides[rank - 1];
    }
    for (int d = 0; d < rank - dims; ++d) count_ *= block.extents[d];
    batch_ = rank - dims;
  }
  [[nodiscard]] index_t count() const noexcept { return count_; }
  [[nodiscard]] index_t rows() const noexcept { return first_.rows; }
  [[nodiscard]] index_t columns() const noexcept { return first_.columns; }
  /// Returns the matrix at a position of the batch, in row-major order.
  [[nodiscard]] matrix_of_block<T> at(index_t place) const noexcept {
    index_t offset = 0;
    for (int d = batch_ - 1; d >= 0; --d) {
      offset += place % block_.extents[d] * block_.strides[d];
      place /= block_.extents[d];
    }
    matrix_of_block<T> out = first_;
    // Matrices without elements may have no memory.
    out.data = out.rows * out.columns == 0 ? block_.data : block_.data + offset;
    return out;
  }

 private:
  strided<T> block_;
  matrix_of_block<T> first_{nullptr, 1, 1, 0, 0};
  index_t count_ = 1;
  int batch_ = 0;
};

/// Calls `f(matrix)` with a matrix in the temporary memory of kernels.
template <class Matrix, class F>
void with_matrix(index_t rows, index_t columns, const F& f) {
  const auto memory =
      make_scratch<typename Matrix::Scalar>(static_cast<std::size_t>(rows * columns));
  Eigen::Map<Matrix> matrix(memory.get(), rows, columns);
  f(matrix);
}
/// Calls `f(matrix, position)` for each matrix of the first operand, with a copy of it.
template <class T, class F>
void for_each_matrix(const kernel_call& call, const F& f) {
  const matrices_of_block<const T> from(call.operands[0].as<const T>(), 2);
  with_matrix<solver_matrix<T>>(from.rows(), from.columns(), [&](solver_view<T>& matrix) {
    for (index_t i = 0; i < from.count(); ++i) {
      from.at(i).read(matrix);
      f(matrix, i);
    }
  });
}
/// The same for an operation with one result, whose last `dims` dimensions are one matrix:
/// `f(matrix)` returns it.
template <class T, class F>
void make_each_matrix(const kernel_call& call, int dims, const F& f) {
  const matrices_of_block<T> to(call.results[0].as<T>(), dims);
  for_each_matrix<T>(call, [&](solver_view<T>& matrix, index_t i) { to.at(i).write(f(matrix)); });
}
/// The same for linear systems: `f(matrix, sides)` replaces the right-hand sides by the solutions.
template <class T, class F>
void solve_each_matrix(const kernel_call& call, const F& f) {
  const strided<const T> sides = call.operands[1].as<const T>();
  const int dims = sides.rank() - call.operands[0].as<const T>().rank() + 2;
  const matrices_of_block<const T> right(sides, dims);
  const matrices_of_block<T> to(call.results[0].as<T>(), dims);
  const auto solve = [&](auto& side) {
    for_each_matrix<T>(call, [&](solver_view<T>& matrix, index_t i) {
      right.at(i).read(side);
      if (side.size() > 0) f(matrix, side);
      to.at(i).write(side);
    });
  };
  if (right.columns() >= many_columns)
    with_matrix<solver_rows<T>>(right.rows(), right.columns(), solve);
  else
    with_matrix<solver_matrix<T>>(right.rows(), right.columns(), solve);
}

/// Replaces right-hand sides by the solutions, and the matrix by its factors.
template <class T, class Sides>
void solve_in_place(solver_view<T>& a, Sides& b) {
  const pivoted_factors<T> factors(a);
  b = factors.permutationP() * b;
  a.template triangularView<Eigen::UnitLower>().solveInPlace(b);
  a.template triangularView<Eigen::Upper>().solveInPlace(b);
}

/// The sign of the permutation of a matrix by its factorisation, and its pivots.
template <class T>
struct pivots_of {
  /// Overwrites the matrix.
  explicit pivots_of(solver_view<T>& x) {
    if (x.size() == 0) return;
    const pivoted_factors<T> factors(x);
    sign = static_cast<T>(factors.permutationP().determinant());
    pivots = factors.matrixLU().diagonal();
  }
  T sign = 1;
  Eigen::Matrix<T, Eigen::Dynamic, 1> pivots{};
};

}  // namespace detail

template <>
struct kernel_of<cholesky_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_view<T>;
    detail::make_each_matrix<T>(call, 2, [](matrix& x) -> matrix& {
      if (x.size() == 0) return x;
      const Eigen::LLT<Eigen::Ref<detail::solver_matrix<T>>> factors(x);
      if (factors.info() == Eigen::Success)
        x.template triangularView<Eigen::StrictlyUpper>().setZero();
      else
        x.setConstant(std::numeric_limits<T>::quiet_NaN());
      return x;
    });
  }
};

template <>
struct kernel_of<triangular_solve_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_view<T>;
    const bool is_upper = call.how.integers[0] != 0, is_transposed = call.how.integers[1] != 0;
    detail::solve_each_matrix<T>(call, [=](matrix& a, auto& b) {
      if (is_transposed) a.transposeInPlace();
      if (is_upper != is_transposed)
        a.template triangularView<Eigen::Upper>().solveInPlace(b);
      else
        a.template triangularView<Eigen::Lower>().solveInPlace(b);
    });
  }
};

template <>
struct kernel_of<solve_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    detail::solve_each_matrix<T>(
        call, [](detail::solver_view<T>& a, auto& b) { detail::solve_in_place(a, b); });
  }
};

template <>
struct kernel_of<inverse_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    const detail::matrices_of_block<T> to(call.results[0].as<T>(), 2);
    detail::with_matrix<detail::solver_rows<T>>(to.rows(), to.columns(), [&](auto& out) {
      detail::for_each_matrix<T>(call, [&](detail::solver_view<T>& x, index_t i) {
        out.setIdentity();
        if (x.size() > 0) detail::solve_in_place(x, out);
        to.at(i).write(out);
      });
    });
  }
};

template <>
struct kernel_of<determinant_operation> : detail::matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_view<T>;
    const detail::matrices_of_block<T> to(call.results[0].as<T>(), 0);
    detail::for_each_matrix<T>(call, [&](matrix& x, index_t i) {
      const detail::pivots_of<T> of(x);
      *to.at(i).data = of.sign * of.pivots.prod();
    });
  }
};

template <>
struct kernel_of<slogdet_operation> : detail::matrix_kernel {
  /// Returns the element types of the results after the first.
  template <class T>
  [[nodiscard]] static further_elements further() noexcept {
    return {&element_kernels_of<T>};
  }
  template <class T>
  static void run(const kernel_call& call) {
    using matrix = detail::solver_view<T>;
    const detail::matrices_of_block<T> signs(call.results[0].as<T>(), 0);
    const detail::matrices_of_block<T> logs(call.results[1].as<T>(), 0);
    detail::for_each_matrix<T>(call, [&](matrix& x, index_t i) {
      const detail::pivots_of<T> of(x);
      T sign = of.sign, log = 0;
      for (const auto& pivot : of.pivots) {
        sign *= pivot == pivot ? static_cast<T>((pivot > 0) - (pivot < 0)) : pivot;
        log += std::log(std::abs(pivot));
      }
      *signs.at(i).data = sign;
      *logs.at(i).data = log;
    });
  }
};

}  // namespace shardwise
