// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/data/row_tensor.hpp"

#include <range/v3/view/iota.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns the rows of a block; `owner` keeps its memory.
template <class T>
[[nodiscard]] auto rows_of_view(strided<const T> block, std::shared_ptr<const void> owner) {
  const index_t rows = block.extents[0];
  const auto row = [block = std::move(block), owner = std::move(owner)](index_t number) {
    sample_row<T> made;
    made.view.data = block.data == nullptr ? nullptr : block.data + number * block.strides[0];
    for (int d = 1; d < block.rank(); ++d) {
      made.view.extents.push_back(block.extents[d]);
      made.view.strides.push_back(block.strides[d]);
    }
    return made;
  };
  return ranges::views::iota(index_t{0}, rows) | ranges::views::transform(row);
}

}  // namespace detail

/// Returns the rows of a block of host memory, along its first dimension, as the samples of a data
/// set: of an Eigen matrix, or of elements with extents, such as the result of `to_host`. What is
/// moved in is owned by the data set; otherwise it refers to the block.
///
///     auto samples = ranges::views::zip(rows_of(inputs), rows_of(targets));
template <class B>
  requires(MatrixInMemory<std::remove_cvref_t<B>> || ShapedElements<std::remove_cvref_t<B>>)
[[nodiscard]] auto rows_of(B&& block) {
  using plain = std::remove_cvref_t<B>;
  const auto view_of = [](const plain& of) { return internal::block_of(of, 2).view; };
  const auto checked = [](auto view) {
    if (view.rank() == 0)
      fail({.rule = violation::host_rank_differs, .have = 0, .want = 1},
           "a data set has rows: its block has one dimension or more");
    return view;
  };
  if constexpr (std::is_lvalue_reference_v<B>) {
    return detail::rows_of_view(checked(view_of(block)), nullptr);
  } else {
    auto owner = std::make_shared<const plain>(std::forward<B>(block));
    auto view = checked(view_of(*owner));
    return detail::rows_of_view(std::move(view), std::move(owner));
  }
}

/// Returns the rows of contiguous elements, each of which has these extents. The data set refers to
/// the elements. Throws `host_size_differs` if they do not make up whole rows.
///
///     auto images = rows_of(std::span<const std::uint8_t>(bytes), {28, 28});
template <Element T>
[[nodiscard]] auto rows_of(std::span<const T> elements, const extents_desc& row) {
  require(validate(row));
  const index_t size = element_count(row), count = static_cast<index_t>(elements.size());
  if (size == 0 ? count != 0 : count % size != 0)
    fail({.rule = violation::host_size_differs, .have = count, .want = size},
         "the elements do not make up whole rows");
  const extents_desc whole = detail::with_dimension(row, 0, size == 0 ? 0 : count / size);
  return detail::rows_of_view(strided<const T>{elements.data(), whole, row_major(whole)}, nullptr);
}

namespace detail {

template <Element T>
[[nodiscard]] auto windows_in(std::span<const T> elements, index_t length, index_t step,
                              index_t first, std::shared_ptr<const void> owner) {
  if (length < 1 || step < 1 || first < 0)
    fail({.rule = violation::amount_is_out_of_range,
          .have = std::min({length, step, first + 1}),
          .want = 1},
         "windows have a length and a step from 1 on, and the first begins at 0 or later");
  const index_t room = static_cast<index_t>(elements.size()) - first;
  const index_t count = room < length ? 0 : (room - length) / step + 1;
  return detail::rows_of_view(
      strided<const T>{elements.data() + (count > 0 ? first : 0), {count, length}, {step, 1}},
      std::move(owner));
}

}  // namespace detail

/// Returns windows of `length` adjacent elements, the first of which begins at `first` and the
/// others `step` elements further: samples of a text, for example. The data set refers to the
/// elements. What remains at the end, and is shorter than a window, is left out.
///
///     // each letter is told by those before it
///     ranges::views::zip(windows_of(text, 64, 64), windows_of(text, 64, 64, 1))
template <Element T>
[[nodiscard]] auto windows_of(std::span<const T> elements, index_t length, index_t step,
                              index_t first = 0) {
  return detail::windows_in(elements, length, step, first, nullptr);
}

}  // namespace shardwise
