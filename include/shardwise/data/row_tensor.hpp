// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/sample_fields.hpp"
#include "shardwise/host/factories.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

namespace shardwise::detail {

/// Returns the extents without a dimension: those of one row of a batch.
[[nodiscard]] inline extents_desc without_dimension(const extents_desc& whole, int dim) {
  extents_desc row;
  for (int d = 0; d < whole.ssize(); ++d)
    if (d != dim) row.push_back(whole[d]);
  return row;
}
/// Returns the extents of a batch of rows.
[[nodiscard]] inline extents_desc with_dimension(const extents_desc& row, int dim, index_t rows) {
  extents_desc whole;
  for (int d = 0; d <= row.ssize(); ++d)
    whole.push_back(d == dim ? rows : row[d < dim ? d : d - 1]);
  return whole;
}

/// Gives a field the extents of a row, and checks those that it has. An extent of the row that is
/// `dyn` may be any.
template <class U>
void shape_row(host_block<U>& field, const extents_desc& row, std::size_t number, index_t sample) {
  const auto refuse = [&](int dim, index_t have, index_t want) {
    fail({.rule = violation::sample_differs,
          .operand = static_cast<int>(number),
          .dim = dim,
          .have = have,
          .want = want},
         "sample " + std::to_string(sample) + " of the data set");
  };
  if (field.is_run) {
    const extents_desc shape = shape_of_run(row, field.count, static_cast<int>(number));
    if (element_count(shape) != field.count) refuse(-1, field.count, element_count(shape));
    field.view = {field.view.data, shape, row_major(shape)};
    field.is_run = false;
  }
  const extents_desc& have = field.view.extents;
  if (have.size() != row.size()) refuse(-1, have.ssize(), row.ssize());
  for (int d = 0; d < row.ssize(); ++d)
    if (row[d] != dyn && have[d] != row[d]) refuse(d, have[d], row[d]);
}

/// Returns the offset of an element of a batch in its row, up to the last dimension of the batch.
template <class U>
[[nodiscard]] index_t offset_in_row(const strided<const U>& row, const global_index& at, int dim) {
  index_t offset = 0;
  for (int d = 0; d < at.ssize(); ++d)
    if (d != dim) offset += at[d] * row.strides[d < dim ? d : d - 1];
  return offset;
}

/// Fills a part of a batch with rows along dimension `dim`. `row_at(row)` returns the address of
/// the view of a row, or null for one that is padded.
template <class T, class U>
void fill_from_rows(const held_box& part, const strided<T>& block, int dim,
                    function_view<const strided<const U>*(index_t)> row_at) {
  const int last = part.ssize() - 1;
  internal::for_each_run(part, [&](const global_index& first, index_t place, index_t count) {
    T* const to = block.data + place;
    if (dim == last) {
      for (index_t i = 0; i < count; ++i) {
        const strided<const U>* const row = row_at(first[dim] + i);
        to[i] = row == nullptr ? T() : static_cast<T>(row->data[offset_in_row(*row, first, dim)]);
      }
      return;
    }
    const strided<const U>* const row = row_at(first[dim]);
    if (row == nullptr) {
      std::fill_n(to, count, T());
      return;
    }
    const U* const from = row->data + offset_in_row(*row, first, dim);
    const index_t stride = row->strides[row->rank() - 1];
    if (std::is_same_v<T, U> && stride == 1)
      std::copy_n(from, count, to);
    else
      for (index_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i * stride]);
  });
}

/// True if elements of `U` become elements of `T`: all do, but numbers with fractions no integers.
template <class T, class U>
inline constexpr bool row_converts =
    std::is_same_v<T, U> || !(std::is_integral_v<T> && !std::is_integral_v<U>);

}  // namespace shardwise::detail
