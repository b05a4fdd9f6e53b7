// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/eigen.hpp"
#include "shardwise/kernel/loop_nest.hpp"
#include "shardwise/kernel/matrix_view.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/kernel/small_product.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace shardwise {

namespace detail {
/// The scalar type in which elements are multiplied: unsigned for integers, so that they wrap
/// around instead of having undefined behaviour.
template <class T>
struct factor_of {
  using type = T;
};
template <std::integral T>
struct factor_of<T> {
  using type = std::make_unsigned_t<T>;
};

/// Products of few elements, for which packing takes longer than multiplying. Written as sums of
/// rows, which compilers vectorise if rows are contiguous. Sums begin with 0, as in larger
/// products: a sum of negative zeros is 0.
template <class C>
void multiply_few(const matrix_view<const C>& a, const matrix_view<const C>& b,
                  const matrix_view<C>& out) noexcept {
  for (index_t i = 0; i < out.rows; ++i) {
    C* const row = out.data + i * out.row_stride;
    for (index_t k = 0; k < a.columns; ++k) {
      const C factor = a.data[i * a.row_stride + k * a.column_stride];
      const C* const from = b.data + k * b.row_stride;
      for (index_t j = 0; j < out.columns; ++j) {
        const auto product = static_cast<C>(factor * from[j * b.column_stride]);
        row[j] = static_cast<C>((k == 0 ? C{0} : row[j]) + product);
      }
    }
  }
}

/// Returns contiguous elements: in place, or copied to `memory`.
template <class C>
[[nodiscard]] const C* side_by_side(const C* from, index_t stride, index_t count,
                                    scratch_array<C>& memory) {
  if (stride == 1) return from;
  memory = make_scratch<C>(static_cast<std::size_t>(count));
  gather_elements(from, stride, count, memory.get());
  return memory.get();
}

/// Computes `out = a * b`, where `b` and `out` are vectors, and the rows or the columns of `a` are
/// contiguous.
template <class C>
void multiply_vector(const matrix_view<const C>& a, const matrix_view<const C>& b,
                     const matrix_view<C>& out) {
  namespace eigen = Eigen::internal;
  constexpr int by_row = Eigen::RowMajor, by_column = Eigen::ColMajor;
  using along_rows = eigen::const_blas_data_mapper<C, index_t, by_row>;
  using along_columns = eigen::const_blas_data_mapper<C, index_t, by_column>;
  for (index_t i = 0; i < out.rows; ++i) out.data[i * out.row_stride] = C{0};
  scratch_array<C> memory;
  const C* const vector = side_by_side(b.data, b.row_stride, b.rows, memory);
  if (a.is_row_major()) {
    eigen::general_matrix_vector_product<index_t, C, along_rows, by_row, false, C, along_columns,
                                         false>::run(a.rows, a.columns,
                                                     along_rows(a.data, a.row_stride),
                                                     along_columns(vector, 1), out.data,
                                                     out.row_stride, C{1});
    return;
  }
  // This function writes only contiguous elements.
  scratch_array<C> sums;
  C* to = out.data;
  if (out.row_stride != 1 && out.rows > 1) {
    sums = make_scratch<C>(static_cast<std::size_t>(out.rows));
    std::fill_n(sums.get(), out.rows, C{0});
    to = sums.get();
  }
  eigen::general_matrix_vector_product<index_t, C, along_columns, by_column, false, C, along_rows,
                                       false>::run(a.rows, a.columns,
                                                   along_columns(a.data, a.column_stride),
                                                   along_rows(vector, 1), to, 1, C{1});
  if (sums) scatter_elements(to, out.rows, out.data, out.row_stride);
}

/// The panels of a blocked product. Panels that are too large for the stack use temporary memory
/// instead of the heap.
template <class C>
class product_panels
    : public Eigen::internal::gemm_blocking_space<Eigen::ColMajor, C, C, Eigen::Dynamic,
                                                  Eigen::Dynamic, Eigen::Dynamic> {
  using base = Eigen::internal::gemm_blocking_space<Eigen::ColMajor, C, C, Eigen::Dynamic,
                                                    Eigen::Dynamic, Eigen::Dynamic>;

 public:
  product_panels(index_t rows, index_t columns, index_t depth)
      : base(rows, columns, depth, 1, true) {
    const auto panel = [](index_t size, scratch_array<C>& memory) -> C* {
      const std::size_t elements = static_cast<std::size_t>(size);
      if (elements * sizeof(C) <= EIGEN_STACK_ALLOCATION_LIMIT) return nullptr;
      memory = make_scratch<C>(elements);
      return memory.get();
    };
    this->m_blockA = panel(this->mc() * this->kc(), left_);
    this->m_blockB = panel(this->kc() * this->nc(), right_);
  }
  product_panels(const product_panels&) = delete;
  product_panels& operator=(const product_panels&) = delete;
  /// The base class would free them on the heap.
  ~product_panels() { this->m_blockA = this->m_blockB = nullptr; }

 private:
  scratch_array<C> left_, right_;
};

/// Computes `out = a * b` in blocks, for a row-major `out`: Eigen's product of the transposed
/// matrices, whose result is column-major. `Left` and `Right` are the storage orders of those.
template <int Left, int Right, class C>
void multiply_blocks(const matrix_view<const C>& a, const matrix_view<const C>& b,
                     const matrix_view<C>& out) {
  namespace eigen = Eigen::internal;
  product_panels<C> blocking(out.columns, out.rows, a.columns);
  eigen::general_matrix_matrix_product<index_t, C, Left, false, C, Right, false, Eigen::ColMajor,
                                       1>::run(out.columns, out.rows, a.columns, b.data,
                                               b.is_row_major() ? b.row_stride : b.column_stride,
                                               a.data,
                                               a.is_row_major() ? a.row_stride : a.column_stride,
                                               out.data, 1, out.row_stride, C{1}, blocking,
                                               nullptr);
}

/// Computes the product of matrices of scalars; `out` is row-major.
template <class C>
void multiply_scalars(const matrix_view<const C>& a, const matrix_view<const C>& b,
                      const matrix_view<C>& out) {
  if (out.columns == 1) return multiply_vector(a, b, out);
  if (out.rows == 1) return multiply_vector(b.transposed(), a.transposed(), out.transposed());
  constexpr index_t few = 13;
  if (a.columns > 0 && a.columns + out.rows + out.columns < few) return multiply_few(a, b, out);
  if constexpr (std::floating_point<C>)
    if (is_small_product(a, b)) return multiply_small(a, b, out);
  for (index_t i = 0; i < out.rows; ++i)
    std::fill_n(out.data + i * out.row_stride, out.columns, C{0});
  if (a.columns == 0) return;
  constexpr int by_row = Eigen::RowMajor, by_column = Eigen::ColMajor;
  const bool left = a.is_row_major(), right = b.is_row_major();
  if (left && right)
    multiply_blocks<by_column, by_column>(a, b, out);
  else if (left)
    multiply_blocks<by_row, by_column>(a, b, out);
  else if (right)
    multiply_blocks<by_column, by_row>(a, b, out);
  else
    multiply_blocks<by_row, by_row>(a, b, out);
}

/// Returns the same matrix with scalar elements.
template <class C, class T>
[[nodiscard]] auto as_scalars(const matrix_view<T>& m) noexcept {
  using scalar = std::conditional_t<std::is_const_v<T>, const C, C>;
  return matrix_view<scalar>{reinterpret_cast<scalar*>(m.data), m.rows, m.columns, m.row_stride,
                             m.column_stride};
}
}  // namespace detail

/// Computes `out = a * b` for usable matrices, on one thread. The bits depend on the sizes and
/// storage orders.
template <class T>
void multiply_matrices(const matrix_view<const T>& a, const matrix_view<const T>& b,
                       const matrix_view<T>& out) {
  using C = typename detail::factor_of<T>::type;
  if (!out.is_row_major())
    return multiply_matrices(b.transposed(), a.transposed(), out.transposed());
  if (out.rows == 0 || out.columns == 0) return;
  detail::multiply_scalars<C>(detail::as_scalars<C>(a), detail::as_scalars<C>(b),
                              detail::as_scalars<C>(out));
}

}  // namespace shardwise
