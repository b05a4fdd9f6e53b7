// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/io/converted_elements_work.hpp"
#include "shardwise/io/stored_part.hpp"

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

namespace shardwise {

namespace detail {

/// Splits dimensions into those of `into`, in order: returns how many of these are the first
/// dimension, or -1 if they cannot be split so.
[[nodiscard]] constexpr int split_dimensions(const extents_desc& from,
                                             const extents_desc& into) noexcept {
  int next = 0, first = 0;
  for (int d = 0; d < from.ssize(); ++d) {
    index_t product = 1;
    while (product != from[d] && next < into.ssize()) product *= into[next++];
    if (product != from[d]) return -1;
    if (d == 0) first = next;
  }
  for (; next < into.ssize(); ++next)
    if (into[next] != 1) return -1;
  return first;
}

SHARDWISE_INLINE_FILES std::optional<stored_view> view_stored(const stored_tensor& stored,
                                                              const extents_desc& extents,
                                                              stored_form form) {
  if (form == stored_form::same) {
    if (split_dimensions(stored.extents, extents) < 0) return std::nullopt;
    return stored_view{&stored, extents, 0};
  }
  if (stored.extents.size() != 2) return std::nullopt;
  const int columns = split_dimensions({stored.extents[1], stored.extents[0]}, extents);
  if (columns < 0) return std::nullopt;
  return stored_view{&stored, extents, columns};
}

/// Reads runs of a stored tensor as elements of one type.
class run_reader {
 public:
  run_reader(const tensor_source& source, const stored_tensor& stored, element type) noexcept
      : source_(source), stored_(stored), type_(type) {}

  /// Reads `count` elements from row-major position `first` on.
  void operator()(index_t first, index_t count, std::byte* to) {
    if (type_ == stored_.type) return read_stored(first, count, to);
    const index_t at_once = std::max(index_t{1}, most_buffered / stored_size());
    for (index_t done = 0; done < count; done += at_once) {
      const index_t n = std::min(at_once, count - done);
      scratch_.resize(static_cast<std::size_t>(n * stored_size()));
      read_stored(first + done, n, scratch_.data());
      internal::convert_elements(stored_.type, scratch_.data(), n, type_,
                                 to + done * size_of(type_));
    }
  }

 private:
  [[nodiscard]] index_t stored_size() const noexcept { return size_of(stored_.type); }
  void read_stored(index_t first, index_t count, std::byte* to) const {
    const std::span<std::byte> row(to, static_cast<std::size_t>(count * stored_size()));
    source_.read(stored_, first * stored_size(), row);
    // Bytes other than 0 and 1 are not valid `bool` elements.
    if (stored_.type == element_of<bool>)
      for (std::byte& each : row) each = std::byte{each != std::byte{0}};
  }

  const tensor_source& source_;
  const stored_tensor& stored_;
  element type_;
  std::vector<std::byte> scratch_{};
};

/// Reads a part of a transposed matrix: `down` are its rows, which are the last dimensions of the
/// tensor, and `across` its columns.
inline void read_transposed(run_reader& read, const stored_view& view, const held_box& across,
                            const held_box& down, const any_block& block) {
  extents_desc wide, tall;
  for (int d = 0; d < view.extents.ssize(); ++d)
    (d < view.columns ? wide : tall).push_back(view.extents[d]);
  const index_t columns = element_count(wide), rows_here = element_count(extents_of(down));
  const index_t width = size_of(block.type);
  std::vector<std::byte> rows;
  for_each_run(down, [&](const global_index& from_row, index_t row_place, index_t row_count) {
    for_each_run(across, [&](const global_index& from, index_t place, index_t count) {
      const index_t first = linear(tall, from_row) * columns + linear(wide, from);
      const index_t at_once = std::max(index_t{1}, most_buffered / (count * width));
      for (index_t done = 0; done < row_count; done += at_once) {
        const index_t n = std::min(at_once, row_count - done);
        rows.resize(static_cast<std::size_t>(n * count * width));
        if (count == columns)  // whole rows, one after another
          read(first + done * columns, n * count, rows.data());
        else
          for (index_t r = 0; r < n; ++r)
            read(first + (done + r) * columns, count, rows.data() + r * count * width);
        const const_any_block stored{rows.data(), block.type, {count, n}, {1, count}};
        any_block made{block.data, block.type, {count, n}, {rows_here, 1}};
        advance(made, place * rows_here + row_place + done);
        with_element_type(
            block.type,
            [&]<class T>(std::type_identity<T>) { element_kernels_of<T>.copy(stored, made); },
            std::make_index_sequence<std::size_t{element_types}>{});
      }
    });
  });
}

SHARDWISE_INLINE_FILES void read_part(const tensor_source& source, const stored_view& view,
                                      const held_box& part, const any_block& block) {
  run_reader read(source, *view.stored, block.type);
  if (view.columns > 0) {
    held_box across, down;
    for (int d = 0; d < part.ssize(); ++d) (d < view.columns ? across : down).push_back(part[d]);
    return read_transposed(read, view, across, down, block);
  }
  for_each_run(part, [&](const global_index& first, index_t place, index_t count) {
    read(linear(view.extents, first), count,
         static_cast<std::byte*>(block.data) + place * size_of(block.type));
  });
}

}  // namespace detail

}  // namespace shardwise
