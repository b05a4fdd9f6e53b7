// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/operation/windowed.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace shardwise::detail {

/// A block without gaps: itself, or a copy in `memory`.
template <class C>
[[nodiscard]] const C* without_gaps(const strided<const C>& block, std::unique_ptr<C[]>& memory) {
  if (block.strides == row_major(block.extents)) return block.data;
  memory = std::make_unique_for_overwrite<C[]>(static_cast<std::size_t>(block.size()));
  copy_block<C>(block, {memory.get(), block.extents, row_major(block.extents)});
  return memory.get();
}

/// Where windows of up to three spatial dimensions read in a block: missing dimensions come first
/// and have one element. Positions and elements of windows are numbered in row-major order.
struct window_walk {
  static constexpr int rank = window_numbers::most_dimensions;

  /// Of the block that is read: extents, strides, and which global index is its first.
  index_t have[rank] = {1, 1, 1};
  index_t step[rank] = {0, 0, 0};
  index_t first[rank] = {0, 0, 0};
  /// Of the windows: how many there are, the global index of the first, and how large each is.
  index_t count[rank] = {1, 1, 1};
  index_t begin[rank] = {0, 0, 0};
  index_t size[rank] = {1, 1, 1};
  window_numbers numbers[rank]{};

  [[nodiscard]] index_t positions() const noexcept { return count[0] * count[1] * count[2]; }
  [[nodiscard]] index_t elements() const noexcept { return size[0] * size[1] * size[2]; }

  /// The local index along a dimension that element `k` of window `p` reads; -1 for padding.
  [[nodiscard]] index_t index_at(int d, index_t p, index_t k) const noexcept {
    const window_numbers& one = numbers[d];
    const index_t place = (begin[d] + p) * one.stride - one.low + k * one.extent;
    if (place < 0 || place % one.spacing != 0) return -1;
    const index_t local = place / one.spacing - first[d];
    return local >= 0 && local < have[d] ? local : -1;
  }
  /// The windows along a dimension whose element `k` is none of the padding, where elements stand
  /// side by side: from the first of them up to the last, not included.
  [[nodiscard]] index_range inside(int d, index_t k) const noexcept {
    const window_numbers& one = numbers[d];
    const index_t offset = begin[d] * one.stride - one.low + k * one.extent - first[d];
    const index_t low = offset >= 0 ? 0 : ceil_div(-offset, one.stride);
    const index_t end = offset >= have[d] ? 0 : ceil_div(have[d] - offset, one.stride);
    return {std::min(low, count[d]), std::clamp(end, std::min(low, count[d]), count[d])};
  }
  /// The local index that element `k` of window 0 would read, where elements stand side by side.
  [[nodiscard]] index_t offset_of(int d, index_t k) const noexcept {
    const window_numbers& one = numbers[d];
    return begin[d] * one.stride - one.low + k * one.extent - first[d];
  }

  /// Writes what element `k` of the windows `[begin, end)` reads, side by side.
  template <class T>
  void gather(const T* data, index_t k, const index_range& windows, T* to) const noexcept {
    const index_t element[rank] = {k / (size[1] * size[2]), k / size[2] % size[1], k % size[2]};
    const bool is_dense = numbers[2].spacing == 1;
    const index_range inner = is_dense ? inside(2, element[2]) : index_range{};
    for (index_t p = windows.begin; p < windows.end;) {
      const index_t line = p / count[2], along = p % count[2];
      const index_t run = std::min(count[2] - along, windows.end - p);
      const index_t i = index_at(0, line / count[1], element[0]);
      const index_t j = index_at(1, line % count[1], element[1]);
      if (i < 0 || j < 0) {
        std::fill_n(to, run, T{});
      } else {
        const T* const row = data + i * step[0] + j * step[1];
        if (is_dense)
          gather_row(row, inner, element[2], along, run, to);
        else
          for (index_t q = 0; q < run; ++q) {
            const index_t at = index_at(2, along + q, element[2]);
            to[q] = at < 0 ? T{} : row[at * step[2]];
          }
      }
      p += run;
      to += run;
    }
  }

 private:
  template <class T>
  void gather_row(const T* row, const index_range& inner, index_t k, index_t along, index_t run,
                  T* to) const noexcept {
    const index_t low = std::clamp<index_t>(inner.begin - along, 0, run);
    const index_t end = std::clamp<index_t>(inner.end - along, low, run);
    std::fill_n(to, low, T{});
    std::fill_n(to + end, run - end, T{});
    if (low == end) return;
    const index_t stride = numbers[2].stride * step[2];
    const T* from = row + (offset_of(2, k) + (along + low) * numbers[2].stride) * step[2];
    if (stride == 1)
      std::copy_n(from, end - low, to + low);
    else
      for (index_t q = low; q < end; ++q, from += stride) to[q] = *from;
  }
};

/// The walk of windows over the spatial dimensions of a block, which are its last ones.
/// `numbers_of(d)` and `size_of(d)` are those of spatial dimension `d`; `read` and `windows` say
/// which global indices the block and the windows have.
template <class Numbers, class Size>
[[nodiscard]] window_walk walk_windows(const inplace_vector<index_t, max_rank>& strides,
                                       const held_box& read, const held_box& windows,
                                       int dimensions, const Numbers& numbers_of,
                                       const Size& size_of) noexcept {
  window_walk walk;
  const int rank = read.ssize();
  for (int d = 0; d < dimensions; ++d) {
    const int to = window_walk::rank - dimensions + d, from = rank - dimensions + d;
    walk.have[to] = read[from].size();
    walk.step[to] = strides[from];
    walk.first[to] = read[from].range.begin;
    walk.count[to] = windows[from].size();
    walk.begin[to] = windows[from].range.begin;
    walk.size[to] = size_of(d);
    walk.numbers[to] = numbers_of(d);
  }
  return walk;
}

}  // namespace shardwise::detail
