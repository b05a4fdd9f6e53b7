// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"

#include <utility>

namespace shardwise {

/// `count` elements that two parts of a dimension have in common, with equal strides in each; the
/// first has local index `from` in one part and `to` in the other.
struct shared_run {
  index_t from = 0;
  index_t to = 0;
  index_t from_step = 1;
  index_t to_step = 1;
  index_t count = 0;
};

namespace detail {

constexpr index_t larger(index_t x, index_t y) noexcept { return x < y ? y : x; }
constexpr index_t smaller(index_t x, index_t y) noexcept { return x < y ? x : y; }

}  // namespace detail

/// The elements that two parts of one dimension have in common, run by run, in ascending order of
/// global indices.
///
/// There is at most one run if both parts are contiguous or belong to the same split, and possibly
/// several under different grains.
///
///     shared_runs runs(from, to);
///     for (shared_run run; runs.next(run);) elements += run.count;
class shared_runs {
 public:
  constexpr shared_runs(const held_range& from, const held_range& to) noexcept
      : from_(from),
        to_(to),
        is_one_(from.split.how == to.split.how && from.split.parts == to.split.parts) {}

  /// Sets `run` to the next run; returns false if there is none.
  [[nodiscard]] constexpr bool next(shared_run& run) noexcept {
    if (is_one_) return next_of_one(run);
    // Both parts are walked in ascending order. Single elements at equal distances are collected
    // into one run.
    while (x_ < from_.size() && y_ < to_.size()) {
      const index_t here = from_.global(x_);
      const index_t there = to_.global(y_);
      const index_t begin = detail::larger(here, there);
      const index_t end = detail::smaller(here + from_.run(x_), there + to_.run(y_));
      const shared_run found{x_ + begin - here, y_ + begin - there, 1, 1, end - begin};
      // Continue after the part that ends first.
      x_ += detail::larger(0, end - here);
      y_ += detail::larger(0, end - there);
      if (begin < end && !extend(found)) {
        run = std::exchange(kept_, found);
        if (run.count > 0) return true;
      }
    }
    run = std::exchange(kept_, {});
    return run.count > 0;
  }

 private:
  /// The run of two parts that are contiguous or belong to one split.
  constexpr bool next_of_one(shared_run& run) noexcept {
    if (x_ > 0) return false;
    x_ = 1;
    const index_t begin = detail::larger(from_.range.begin, to_.range.begin);
    const index_t end = detail::smaller(from_.range.end, to_.range.end);
    run = {begin - from_.range.begin, begin - to_.range.begin, 1, 1, end - begin};
    return begin < end;
  }
  /// Adds a single element to the run that is kept; returns false if it is not at its distance.
  constexpr bool extend(const shared_run& found) noexcept {
    if (found.count != 1 || kept_.count == 0) return false;
    const index_t from_step = found.from - kept_.from - (kept_.count - 1) * kept_.from_step;
    const index_t to_step = found.to - kept_.to - (kept_.count - 1) * kept_.to_step;
    if (kept_.count > 1 && (from_step != kept_.from_step || to_step != kept_.to_step)) return false;
    kept_ = {kept_.from, kept_.to, from_step, to_step, kept_.count + 1};
    return true;
  }

  held_range from_;
  held_range to_;
  bool is_one_;
  index_t x_ = 0;
  index_t y_ = 0;
  shared_run kept_;
};

/// Returns the number of elements that two parts of a tensor have in common.
///
///     // what device 1 needs of device 0 when rows become columns
///     shared_elements(held_of(mesh, rows, extents, 0), held_of(mesh, columns, extents, 1));
[[nodiscard]] constexpr index_t shared_elements(const held_box& a, const held_box& b) noexcept {
  index_t elements = 1;
  for (int d = 0; d < a.ssize(); ++d) {
    index_t along = 0;
    shared_runs runs(a[d], b[d]);
    for (shared_run run; runs.next(run);) along += run.count;
    elements *= along;
  }
  return elements;
}

}  // namespace shardwise
