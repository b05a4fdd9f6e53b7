// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/kernel/element_runs.hpp"
#include "shardwise/kernel/strided.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace shardwise {

/// The loops that traverse `N` views of the same extents together, with dimensions merged if they
/// are contiguous in every view. There is at least one loop; elements are numbered in row-major
/// order.
///
///     two [4, 8] blocks without gaps: one loop of 32; a column beside one: two loops
template <std::size_t N>
class loop_nest {
 public:
  /// One dimension: the number of steps, and the distance by which each view moves in a step.
  struct loop {
    index_t extent;
    index_t strides[N];
  };
  /// The position of an element: its number along each loop, and its offset in each view.
  struct position {
    index_t along[max_rank];
    index_t inner = 0;
    index_t offsets[N]{};
  };

  /// Adds a dimension inside the existing ones.
  constexpr void push(const loop& next) noexcept {
    size_ *= next.extent;
    if (next.extent == 1) return;
    if (rank_ == 0 || !follows(loops_[rank_ - 1], next)) {
      loops_[rank_++] = next;
      return;
    }
    const index_t extent = loops_[rank_ - 1].extent * next.extent;
    loops_[rank_ - 1] = next;
    loops_[rank_ - 1].extent = extent;
  }

  [[nodiscard]] constexpr index_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
  [[nodiscard]] constexpr index_t inner_extent() const noexcept {
    return rank_ == 0 ? 1 : loops_[rank_ - 1].extent;
  }
  /// Returns the distance between adjacent elements along the last loop in view `k`.
  [[nodiscard]] constexpr index_t inner_stride(std::size_t k) const noexcept {
    return rank_ == 0 ? 1 : loops_[rank_ - 1].strides[k];
  }

  /// Returns the number of steps of loop `number`; loop 0 is the outermost.
  [[nodiscard]] constexpr index_t extent(int number) const noexcept {
    return loops_[number].extent;
  }
  /// Returns the distance between adjacent elements along loop `number` in view `k`; loop 0 is the
  /// outermost.
  [[nodiscard]] constexpr index_t stride(int number, std::size_t k) const noexcept {
    return loops_[number].strides[k];
  }

  /// Returns the distance between adjacent rows in view `k`; 0 if there is one row.
  [[nodiscard]] constexpr index_t row_stride(std::size_t k) const noexcept {
    return rank_ < 2 ? 0 : loops_[rank_ - 2].strides[k];
  }

  /// Returns the position of element `number`.
  [[nodiscard]] constexpr position at(index_t number) const noexcept {
    position place;
    for (int d = rank_ - 1; d >= 0; --d) {
      const loop& here = loops_[d];
      const index_t rest = d == 0 ? 0 : number / here.extent;
      place.along[d] = number - rest * here.extent;
      for (std::size_t k = 0; k < N; ++k) place.offsets[k] += place.along[d] * here.strides[k];
      number = rest;
    }
    if (rank_ > 0) place.inner = place.along[rank_ - 1];
    return place;
  }

  /// Moves from any element of a row to the first of the next row; after the last row, to the
  /// first.
  constexpr void next_row(position& place) const noexcept {
    for (int d = rank_ - 1; d >= 0; --d) {
      const loop& here = loops_[d];
      const bool more = d < rank_ - 1 && place.along[d] + 1 < here.extent;
      const index_t move = more ? 1 : -place.along[d];
      place.along[d] += move;
      for (std::size_t k = 0; k < N; ++k) place.offsets[k] += move * here.strides[k];
      if (more) break;
    }
    place.inner = 0;
  }

 private:
  [[nodiscard]] static constexpr bool follows(const loop& outer, const loop& inner) noexcept {
    for (std::size_t k = 0; k < N; ++k)
      if (outer.strides[k] != inner.strides[k] * inner.extent) return false;
    return true;
  }

  // Not initialised: a nest is constructed for every kernel call, and reads only the loops that it
  // has.
  loop loops_[max_rank];
  int rank_ = 0;
  index_t size_ = 1;
};

/// Returns the dimensions of a view in order of descending strides: the order in which it is
/// written front to back.
[[nodiscard]] constexpr inplace_vector<int, max_rank> by_stride(
    const inplace_vector<index_t, max_rank>& strides) noexcept {
  inplace_vector<int, max_rank> order;
  for (int d = 0; d < strides.ssize(); ++d) {
    order.push_back(d);
    for (int i = d; i > 0 && strides[order[i - 1]] < strides[order[i]]; --i)
      std::swap(order[i - 1], order[i]);
  }
  return order;
}

/// Calls `f(done, offsets, run)` for the pieces of the elements [first, first + count), each within
/// one row: `done` elements precede the piece, which has `run` elements.
template <std::size_t N, class F>
void for_each_piece(const loop_nest<N>& nest, index_t first, index_t count, F f) {
  if (count == 0) return;  // an empty nest has no first element
  auto place = nest.at(first);
  for (index_t done = 0; done < count; nest.next_row(place)) {
    const index_t run = std::min(count - done, nest.inner_extent() - place.inner);
    f(done, place.offsets, run);
    done += run;
  }
}

/// Calls `f(offsets, rows)` once for each run of the loop around the last one. `rows` is the number
/// of its rows and `offsets` are those of the first; each row has `nest.inner_extent()` elements.
/// From one to the next, offset `k` grows by `nest.row_stride(k)`.
template <std::size_t N, class F>
void for_rows_side_by_side(const loop_nest<N>& nest, F f) {
  if (nest.size() == 0) return;
  const int beside = nest.rank() - 2;
  const index_t rows = beside < 0 ? 1 : nest.extent(beside);
  auto place = nest.at(0);
  for (index_t left = nest.size() / (rows * nest.inner_extent()); left > 0; --left) {
    f(place.offsets, rows);
    if (left == 1) return;
    for (std::size_t k = 0; k < N; ++k) place.offsets[k] += (rows - 1) * nest.row_stride(k);
    place.along[beside] = rows - 1;
    nest.next_row(place);
  }
}

/// Calls `f(offsets)` for each row. The offsets of successive rows are computed only by additions,
/// since rows may be short.
template <std::size_t N, class F>
void for_each_row(const loop_nest<N>& nest, F f) {
  for_rows_side_by_side(nest, [&](index_t(&offsets)[N], index_t rows) {
    index_t at[N];
    std::copy_n(offsets, N, at);
    for (f(at); rows > 1; --rows) {
      for (std::size_t k = 0; k < N; ++k) at[k] += nest.row_stride(k);
      f(at);
    }
  });
}

}  // namespace shardwise
