// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/kernel/eigen.hpp"

#include <concepts>
#include <type_traits>

namespace shardwise {

/// A block of memory as a matrix.
template <class T>
struct matrix_view {
  T* data = nullptr;
  index_t rows = 1;
  index_t columns = 1;
  index_t row_stride = 1;
  index_t column_stride = 1;

  /// The same memory with rows and columns exchanged.
  [[nodiscard]] constexpr matrix_view transposed() const noexcept {
    return {data, columns, rows, column_stride, row_stride};
  }
  /// The rows [begin, end).
  [[nodiscard]] constexpr matrix_view row_range(index_t begin, index_t end) const noexcept {
    return {data + begin * row_stride, end - begin, columns, row_stride, column_stride};
  }
  /// True if the elements of a row are neighbours and rows do not overlap.
  [[nodiscard]] constexpr bool is_row_major() const noexcept {
    return (columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns);
  }
  /// True if a product reads or writes it in place.
  [[nodiscard]] constexpr bool is_usable() const noexcept {
    return is_row_major() || transposed().is_row_major();
  }
};

namespace detail {
template <class T, int Order>
[[nodiscard]] auto map(const matrix_view<T>& m) noexcept {
  // Integers are multiplied as unsigned ones: they wrap around, which is undefined otherwise.
  using element = std::remove_const_t<T>;
  using scalar = typename std::conditional_t<std::integral<element>, std::make_unsigned<element>,
                                             std::type_identity<element>>::type;
  using matrix = Eigen::Matrix<scalar, Eigen::Dynamic, Eigen::Dynamic, Order>;
  using mapped = std::conditional_t<std::is_const_v<T>, const matrix, matrix>;
  using pointer = std::conditional_t<std::is_const_v<T>, const scalar*, scalar*>;
  const index_t outer = Order == Eigen::RowMajor ? m.row_stride : m.column_stride;
  return Eigen::Map<mapped, 0, Eigen::OuterStride<>>(reinterpret_cast<pointer>(m.data), m.rows,
                                                     m.columns, Eigen::OuterStride<>(outer));
}
}  // namespace detail

/// `out = a * b` for usable matrices, on one thread. The bits depend on the sizes and storage
/// orders.
template <class T>
void multiply_matrices(const matrix_view<const T>& a, const matrix_view<const T>& b,
                       const matrix_view<T>& out) {
  if (!out.is_row_major())
    return multiply_matrices(b.transposed(), a.transposed(), out.transposed());
  auto target = detail::map<T, Eigen::RowMajor>(out);
  constexpr int by_row = Eigen::RowMajor, by_column = Eigen::ColMajor;
  const bool left = a.is_row_major(), right = b.is_row_major();
  if (left && right)
    target.noalias() = detail::map<const T, by_row>(a) * detail::map<const T, by_row>(b);
  else if (left)
    target.noalias() = detail::map<const T, by_row>(a) * detail::map<const T, by_column>(b);
  else if (right)
    target.noalias() = detail::map<const T, by_column>(a) * detail::map<const T, by_row>(b);
  else
    target.noalias() = detail::map<const T, by_column>(a) * detail::map<const T, by_column>(b);
}

}  // namespace shardwise
