// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/eigen_solvers.hpp"
#include "shardwise/kernel/kernel_call.hpp"
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

/// The kernel `Class` of an operation, which has `run_wide<T>` for `float` and `double`. Other
/// elements are computed on wide copies, so that the solvers are not compiled for them.
template <class Class>
struct matrix_kernel {
  template <class T>
  static void run(const kernel_call& call) {
    using wide = compute_type<T>;
    if constexpr (std::same_as<T, wide>)
      Class::template run_wide<T>(call);
    else
      run_on_copies<T>(call);
  }

 private:
  template <class Data, class Block>
  [[nodiscard]] static basic_block<Data> block_of(Data* data, element type, const Block& block) {
    return {data, type, block.extents, block.strides};
  }
  template <class T>
  static void run_on_copies(const kernel_call& call) {
    using wide = compute_type<T>;
    std::vector<widened_block<T>> copies, results;
    std::vector<const_any_block> read;
    std::vector<any_block> made;
    for (const const_any_block& x : call.operands) {
      const auto& copy = copies.emplace_back(x.template as<const T>()).block();
      read.push_back(block_of<const void>(copy.data, element_of<wide>, copy));
    }
    for (const any_block& x : call.results) {
      const auto& result = results.emplace_back(x.extents).block();
      made.push_back(block_of<void>(result.data, element_of<wide>, result));
    }
    Class::template run_wide<wide>(
        {call.how, call.rule, read, call.parts, made, call.sizes, call.made});
    for (std::size_t k = 0; k < results.size(); ++k)
      results[k].store(call.results[k].template as<T>());
  }
};

/// A matrix of a block, its last two dimensions, or a single column.
template <class T>
struct matrix_of_block {
  T* data;
  index_t rows, columns;
  index_t row_stride, column_stride;

  void read(solver_matrix<std::remove_const_t<T>>& to) const {
    to.resize(rows, columns);
    copy_block<std::remove_const_t<T>>({data, {columns, rows}, {column_stride, row_stride}},
                                       {to.data(), {columns, rows}, {rows, 1}});
  }
  void write(const Eigen::Ref<const solver_matrix<std::remove_const_t<T>>>& from) const {
    copy_block<T>({from.data(), {rows, columns}, {1, from.outerStride()}},
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

/// Calls `f(matrix, position)` for each matrix of the first operand, with a copy of it.
template <class T, class F>
void for_each_matrix(const kernel_call& call, const F& f) {
  const matrices_of_block<const T> from(call.operands[0].as<const T>(), 2);
  solver_matrix<T> matrix;
  for (index_t i = 0; i < from.count(); ++i) {
    from.at(i).read(matrix);
    f(matrix, i);
  }
}
/// The same for an operation with one result, whose last `dims` dimensions are one matrix:
/// `f(matrix)` returns it.
template <class T, class F>
void make_each_matrix(const kernel_call& call, int dims, const F& f) {
  const matrices_of_block<T> to(call.results[0].as<T>(), dims);
  for_each_matrix<T>(call, [&](solver_matrix<T>& matrix, index_t i) { to.at(i).write(f(matrix)); });
}
/// The same for linear systems: `f(matrix, sides)` returns the solutions.
template <class T, class F>
void solve_each_matrix(const kernel_call& call, const F& f) {
  const strided<const T> sides = call.operands[1].as<const T>();
  const int dims = sides.rank() - call.operands[0].as<const T>().rank() + 2;
  const matrices_of_block<const T> right(sides, dims);
  const matrices_of_block<T> to(call.results[0].as<T>(), dims);
  solver_matrix<T> side;
  for_each_matrix<T>(call, [&](solver_matrix<T>& matrix, index_t i) {
    right.at(i).read(side);
    if (side.size() > 0) f(matrix, side);
    to.at(i).write(side);
  });
}

/// The sign of the determinant of a matrix, and its pivots.
template <class Matrix>
struct pivots_of {
  using T = typename Matrix::Scalar;

  explicit pivots_of(const Matrix& x) {
    if (x.size() == 0) return;
    const Eigen::PartialPivLU<Matrix> factors(x);
    sign = static_cast<T>(factors.permutationP().determinant());
    pivots = factors.matrixLU().diagonal();
  }
  T sign = 1;
  Eigen::Matrix<T, Eigen::Dynamic, 1> pivots{};
};

}  // namespace detail

template <>
struct kernel_of<cholesky_operation> : detail::matrix_kernel<kernel_of<cholesky_operation>> {
  template <class T>
  static void run_wide(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    detail::make_each_matrix<T>(call, 2, [](matrix& x) -> matrix& {
      if (x.size() == 0) return x;
      const Eigen::LLT<matrix> factors(x);
      if (factors.info() == Eigen::Success)
        x = factors.matrixL();
      else
        x.setConstant(std::numeric_limits<T>::quiet_NaN());
      return x;
    });
  }
};

template <>
struct kernel_of<triangular_solve_operation>
    : detail::matrix_kernel<kernel_of<triangular_solve_operation>> {
  template <class T>
  static void run_wide(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    const bool is_upper = call.how.integers[0] != 0, is_transposed = call.how.integers[1] != 0;
    detail::solve_each_matrix<T>(call, [=](matrix& a, matrix& b) {
      if (is_transposed) a.transposeInPlace();
      if (is_upper != is_transposed)
        a.template triangularView<Eigen::Upper>().solveInPlace(b);
      else
        a.template triangularView<Eigen::Lower>().solveInPlace(b);
    });
  }
};

template <>
struct kernel_of<solve_operation> : detail::matrix_kernel<kernel_of<solve_operation>> {
  template <class T>
  static void run_wide(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    detail::solve_each_matrix<T>(call, [](const matrix& a, matrix& b) {
      b = Eigen::PartialPivLU<matrix>(a).solve(b).eval();
    });
  }
};

template <>
struct kernel_of<inverse_operation> : detail::matrix_kernel<kernel_of<inverse_operation>> {
  template <class T>
  static void run_wide(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    detail::make_each_matrix<T>(call, 2, [](matrix& x) -> matrix& {
      if (x.size() > 0) x = Eigen::PartialPivLU<matrix>(x).inverse().eval();
      return x;
    });
  }
};

template <>
struct kernel_of<determinant_operation> : detail::matrix_kernel<kernel_of<determinant_operation>> {
  template <class T>
  static void run_wide(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    detail::make_each_matrix<T>(call, 0, [](matrix& x) -> matrix& {
      const detail::pivots_of<matrix> of(x);
      x.setConstant(1, 1, of.sign * of.pivots.prod());
      return x;
    });
  }
};

template <>
struct kernel_of<slogdet_operation> : detail::matrix_kernel<kernel_of<slogdet_operation>> {
  /// Returns the element types of the results after the first.
  template <class T>
  [[nodiscard]] static further_elements further() noexcept {
    return {&element_kernels_of<T>};
  }
  template <class T>
  static void run_wide(const kernel_call& call) {
    using matrix = detail::solver_matrix<T>;
    const detail::matrices_of_block<T> signs(call.results[0].as<T>(), 0);
    const detail::matrices_of_block<T> logs(call.results[1].as<T>(), 0);
    detail::for_each_matrix<T>(call, [&](const matrix& x, index_t i) {
      const detail::pivots_of<matrix> of(x);
      T sign = of.sign, log = 0;
      for (const auto& pivot : of.pivots) {
        sign *= static_cast<T>((pivot > 0) - (pivot < 0));
        log += std::log(std::abs(pivot));
      }
      *signs.at(i).data = sign;
      *logs.at(i).data = log;
    });
  }
};

}  // namespace shardwise
