// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/block_rows.hpp"
#include "shardwise/data/sample_stream.hpp"
#include "shardwise/io/csv.hpp"
#include "shardwise/io/file_array.hpp"
#include "shardwise/io/safetensors.hpp"

#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shardwise {

namespace detail {

/// Makes a row of its own, which `fill(elements)` reads.
template <Element T, class Fill>
[[nodiscard]] sample_row<T> read_row(const extents_desc& extents, const Fill& fill) {
  auto elements = std::make_shared<host_elements<T>>();
  make_elements<T>(*elements, element_count(extents));
  fill(std::span<T>(elements->data(), elements->size()));
  const T* const first = elements->data();
  return {{first, extents, row_major(extents)}, std::move(elements)};
}

}  // namespace detail

/// Returns the rows of an array in a file, along its first dimension, as the samples of a data set,
/// with the elements of the file or, if asked, converted ones. A row is where the file is mapped,
/// if it has the byte order of the machine and its elements are adjacent; else it is read for each
/// sample. Throws `stored_tensor_differs` for other elements.
///
///     auto images = rows_of<std::uint8_t>(open_idx("train-images-idx3-ubyte.gz"));
///     auto inputs = rows_of<float>(open_npy("doubles.npy"), stored_elements::converted);
template <Element T>
[[nodiscard]] auto rows_of(const file_array& array, stored_elements how = stored_elements::same) {
  array.require_elements(element_of<T>, how);
  const index_t rows = array.rows();
  const extents_desc row = detail::without_dimension(array.extents, 0);
  const auto at = [array, how, row](index_t number) -> sample_row<T> {
    if constexpr (!std::is_same_v<T, bool>)
      if (array.type == element_of<T>)
        if (const std::span<const T> all = array.template in_place<T>(); !all.empty())
          return {{all.data() + number * element_count(row), row, row_major(row)}};
    return detail::read_row<T>(row, [&](std::span<T> to) { array.read_rows(number, to, how); });
  };
  return ranges::views::iota(index_t{0}, rows) | ranges::views::transform(at);
}

/// Returns the rows of a tensor in a safetensors file, or in a directory of them, along its first
/// dimension. Throws `tensor_is_not_in_file`, or `stored_tensor_differs` for other elements.
///
///     const auto file = std::make_shared<safetensors_file>("train.safetensors");
///     auto tokens = rows_of<std::int32_t>(file, "tokens");
template <Element T>
[[nodiscard]] auto rows_of(std::shared_ptr<const tensor_source> file, std::string_view name) {
  const stored_tensor& stored = file->find(name, element_of<T>);
  if (stored.extents.empty())
    fail({.rule = violation::host_rank_differs, .have = 0, .want = 1},
         "a data set has rows: its tensor has one dimension or more");
  const extents_desc row = detail::without_dimension(stored.extents, 0);
  const index_t rows = stored.extents[0], bytes = element_count(row) * size_of(stored.type);
  const auto at = [file = std::move(file), stored = &stored, row, bytes](index_t number) {
    return detail::read_row<T>(row, [&](std::span<T> to) {
      file->read(*stored, number * bytes, std::as_writable_bytes(to));
    });
  };
  return ranges::views::iota(index_t{0}, rows) | ranges::views::transform(at);
}

/// Returns the numbers of some columns of a CSV file as samples: one row of them for each line.
/// Throws `tensor_is_not_in_file` if a column is missing; a field that is no number is
/// `file_is_malformed`, from the loop.
///
///     const auto table = std::make_shared<csv_file>("iris.csv");
///     auto samples = ranges::views::zip(rows_of<float>(table, {"length", "width"}),
///                                       column_of<std::int32_t>(table, "kind"));
template <Element T>
[[nodiscard]] auto rows_of(const std::shared_ptr<const csv_file>& file,
                           const std::vector<std::string>& columns) {
  const index_t rows = file->rows();
  const auto at = [file, numbers = file->columns(columns)](index_t number) {
    return detail::read_row<T>({static_cast<index_t>(numbers.size())}, [&](std::span<T> to) {
      file->template read<T>(number, numbers, to);
    });
  };
  return ranges::views::iota(index_t{0}, rows) | ranges::views::transform(at);
}
/// Returns the numbers of one column as samples.
template <Element T>
[[nodiscard]] auto column_of(const std::shared_ptr<const csv_file>& file, std::string_view column) {
  const index_t rows = file->rows();
  const auto at = [file, number = file->column(column)](index_t row) {
    return file->template get<T>(row, number);
  };
  return ranges::views::iota(index_t{0}, rows) | ranges::views::transform(at);
}

/// Returns windows of the bytes of a file, as `windows_of` of elements in memory does.
///
///     auto text = windows_of(open_unpacked("book.txt.gz"), 64, 64);
[[nodiscard]] inline auto windows_of(const file_bytes& file, index_t length, index_t step,
                                     index_t first = 0) {
  const auto owner = std::make_shared<const file_bytes>(file);
  const std::span<const std::byte> all = owner->bytes();
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(all.data()),
                                            all.size());
  return detail::windows_in(bytes, length, step, first, owner);
}

/// Joins several data sets, one behind the other: the files of a directory, for example.
///
///     std::vector<decltype(rows_of<float>(open_npy("")))> parts;
///     auto samples = joined(std::move(parts));
template <SampleRange R>
[[nodiscard]] auto joined(std::vector<R> parts) {
  struct all_parts {
    std::vector<R> parts;
    std::vector<index_t> ends;
  };
  auto all = std::make_shared<all_parts>();
  index_t end = 0;
  for (const R& part : parts)
    all->ends.push_back(end += static_cast<index_t>(ranges::distance(part)));
  all->parts = std::move(parts);
  const auto at =
      [all = std::shared_ptr<const all_parts>(std::move(all))](index_t number) -> decltype(auto) {
    const auto found = std::upper_bound(all->ends.begin(), all->ends.end(), number);
    const auto part = static_cast<std::size_t>(found - all->ends.begin());
    const index_t begin = part == 0 ? 0 : all->ends[part - 1];
    return ranges::begin(all->parts[part])[number - begin];
  };
  return ranges::views::iota(index_t{0}, end) | ranges::views::transform(at);
}

}  // namespace shardwise
