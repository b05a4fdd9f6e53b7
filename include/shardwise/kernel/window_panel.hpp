// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/copy_kernel.hpp"
#include "shardwise/kernel/kernel_call.hpp"
#include "shardwise/kernel/scratch_memory.hpp"
#include "shardwise/operation/windowed.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>

namespace shardwise::detail {

/// Returns a contiguous block: the block itself, or a copy in `memory`.
template <class C>
[[nodiscard]] const C* without_gaps(const strided<const C>& block, scratch_array<C>& memory) {
  if (block.strides == row_major(block.extents)) return block.data;
  memory = make_scratch<C>(static_cast<std::size_t>(block.size()));
  copy_block<C>(block, {memory.get(), block.extents, row_major(block.extents)});
  return memory.get();
}

/// The elements of a block that windows of up to three spatial dimensions read: missing dimensions
/// come first and have size 1. Positions and elements of windows are numbered in row-major order.
struct window_walk {
  static constexpr int rank = window_numbers::most_dimensions;

  /// For the block that is read: extents, strides, and the global index of its first element.
  index_t have[rank] = {1, 1, 1};
  index_t step[rank] = {0, 0, 0};
  index_t first[rank] = {0, 0, 0};
  /// For the windows: their number, the global index of the first, and their size.
  index_t count[rank] = {1, 1, 1};
  index_t begin[rank] = {0, 0, 0};
  index_t size[rank] = {1, 1, 1};
  window_numbers numbers[rank]{};

  [[nodiscard]] index_t positions() const noexcept { return count[0] * count[1] * count[2]; }
  [[nodiscard]] index_t elements() const noexcept { return size[0] * size[1] * size[2]; }

  /// Returns the local index along a dimension that element `k` of window `p` reads; -1 for
  /// padding.
  [[nodiscard]] index_t index_at(int d, index_t p, index_t k) const noexcept {
    const window_numbers& one = numbers[d];
    const index_t place = (begin[d] + p) * one.stride - one.low + k * one.extent;
    if (place < 0 || place % one.spacing != 0) return -1;
    const index_t local = place / one.spacing - first[d];
    return local >= 0 && local < have[d] ? local : -1;
  }
  /// The windows along a dimension whose element `k` is not padding, and the index that it reads in
  /// each of them: windows at equal distances read elements at equal distances.
  struct run {
    index_t window = 0;
    index_t window_step = 1;
    index_t source = 0;
    index_t source_step = 1;
    index_t count = 0;

    /// Returns true if the run contains all windows, of which there are `all`.
    [[nodiscard]] bool covers(index_t all) const noexcept {
      return window == 0 && window_step == 1 && count == all;
    }
  };
  [[nodiscard]] run run_of(int d, index_t k) const noexcept {
    const window_numbers& one = numbers[d];
    const index_t place = begin[d] * one.stride - one.low + k * one.extent;
    const auto first_from = [&](index_t element) {
      const index_t away = element * one.spacing - place;
      return away <= 0 ? 0 : ceil_div(away, one.stride);
    };
    const index_t end = std::min(count[d], first_from(first[d] + have[d]));
    const index_t common = std::gcd(one.stride, one.spacing);
    run out{first_from(first[d]), one.spacing / common, 0, one.stride / common, 0};
    for (index_t tried = 0; tried < out.window_step; ++tried, ++out.window) {
      const index_t at = place + out.window * one.stride;
      if (out.window >= end) return {};
      if (at % one.spacing != 0) continue;
      out.source = at / one.spacing - first[d];
      out.count = ceil_div(end - out.window, out.window_step);
      return out;
    }
    return {};
  }

  /// Writes the elements that element `k` of the windows `[begin, end)` reads to contiguous memory.
  template <class T>
  void gather(const T* data, index_t k, const index_range& windows, T* to) const noexcept {
    const index_t element[rank] = {k / (size[1] * size[2]), k / size[2] % size[1], k % size[2]};
    const run inner = run_of(2, element[2]);
    for (index_t p = windows.begin; p < windows.end;) {
      const index_t line = p / count[2], along = p % count[2];
      const index_t length = std::min(count[2] - along, windows.end - p);
      const index_t i = index_at(0, line / count[1], element[0]);
      const index_t j = index_at(1, line % count[1], element[1]);
      if (i < 0 || j < 0)
        std::fill_n(to, length, T{});
      else
        gather_row(data + i * step[0] + j * step[1], inner, along, length, to);
      p += length;
      to += length;
    }
  }

 private:
  template <class T>
  void gather_row(const T* row, const run& inner, index_t along, index_t length,
                  T* to) const noexcept {
    // The windows of the run among those that are written.
    const auto members_before = [&](index_t window) {
      const index_t away = window - inner.window;
      return away <= 0 ? 0 : std::min(ceil_div(away, inner.window_step), inner.count);
    };
    const index_t low = members_before(along), end = members_before(along + length);
    const index_t skipped = low == end ? length : inner.window + low * inner.window_step - along;
    const index_t stride = inner.source_step * step[2];
    const T* from = row + (inner.source + low * inner.source_step) * step[2];
    if (inner.window_step > 1) {
      std::fill_n(to, length, T{});
      for (index_t q = low; q < end; ++q, from += stride)
        to[skipped + (q - low) * inner.window_step] = *from;
      return;
    }
    std::fill_n(to, skipped, T{});
    const index_t written = skipped + (end - low);
    std::fill_n(to + written, length - written, T{});
    if (stride == 1)
      std::copy_n(from, end - low, to + skipped);
    else
      for (index_t q = low; q < end; ++q, from += stride) to[skipped + q - low] = *from;
  }
};

/// Returns the traversal of windows over the spatial dimensions of a block, which are its last
/// ones. `numbers_of(d)` and `size_of(d)` are those of spatial dimension `d`; `read` and `windows`
/// state which global indices the block and the windows have.
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
