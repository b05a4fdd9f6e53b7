// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

namespace shardwise {

/// A block of memory as a matrix.
template <class T>
struct matrix_view {
  T* data = nullptr;
  index_t rows = 1;
  index_t columns = 1;
  index_t row_stride = 1;
  index_t column_stride = 1;

  /// Returns the same memory with rows and columns exchanged.
  [[nodiscard]] constexpr matrix_view transposed() const noexcept {
    return {data, columns, rows, column_stride, row_stride};
  }
  /// Returns the rows [begin, end). A matrix without columns may have no memory to point into.
  [[nodiscard]] constexpr matrix_view row_range(index_t begin, index_t end) const noexcept {
    T* const first = columns > 0 ? data + begin * row_stride : data;
    return {first, end - begin, columns, row_stride, column_stride};
  }
  /// Returns the columns [begin, end). A matrix without rows may have no memory to point into.
  [[nodiscard]] constexpr matrix_view column_range(index_t begin, index_t end) const noexcept {
    T* const first = rows > 0 ? data + begin * column_stride : data;
    return {first, rows, end - begin, row_stride, column_stride};
  }
  /// Returns true if the elements of a row are contiguous and rows do not overlap.
  [[nodiscard]] constexpr bool is_row_major() const noexcept {
    return (columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns);
  }
  /// Returns true if a product can read or write it in place.
  [[nodiscard]] constexpr bool is_usable() const noexcept {
    return is_row_major() || transposed().is_row_major();
  }
};

}  // namespace shardwise
