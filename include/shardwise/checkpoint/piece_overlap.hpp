// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shared_run.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace shardwise {

/// What two pieces of one tensor share: runs of elements that are adjacent in both.
///
///     // rows 2 and 3 of what the first has are rows 0 and 1 of the second
///     const piece_overlap shared(first, second);
///     shared.for_each_run(0, elements, [](index_t from, index_t to, index_t count) { ... });
class piece_overlap {
 public:
  constexpr piece_overlap(const held_box& from, const held_box& to) : rank_(from.ssize()) {
    index_t from_stride = 1, to_stride = 1;
    for (int d = rank_; d-- > 0;) {
      from_strides_[at(d)] = from_stride;
      to_strides_[at(d)] = to_stride;
      from_stride *= from[d].size();
      to_stride *= to[d].size();
    }
    for (int d = 0; d < rank_; ++d) {
      index_t count = 0;
      shared_runs shared(from[d], to[d]);
      for (shared_run run; shared.next(run);) {
        count += run.count;
        runs_[at(d)].push_back(run);
      }
      size_ *= count;
      if (count != from[d].size() || count != to[d].size()) last_ = d;
    }
  }

  /// Returns the number of elements that both have.
  [[nodiscard]] constexpr index_t size() const noexcept { return size_; }

  /// Calls `copy(from, to, count)` for runs of the shared elements whose row-major places in the
  /// first piece are from `begin` to `end`; `from` and `to` are places in the pieces.
  template <class Copy>
  constexpr void for_each_run(index_t begin, index_t end, const Copy& copy) const {
    if (size_ > 0) walk(0, 0, 0, begin, end, copy);
  }
  /// Returns true if any element at these places is shared.
  [[nodiscard]] constexpr bool reaches(index_t begin, index_t end) const {
    bool found = false;
    for_each_run(begin, end, [&](index_t, index_t, index_t) { found = true; });
    return found;
  }

 private:
  [[nodiscard]] static constexpr std::size_t at(int dim) noexcept {
    return static_cast<std::size_t>(dim);
  }

  template <class Copy>
  constexpr void walk(int d, index_t from, index_t to, index_t begin, index_t end,
                      const Copy& copy) const {
    if (d == rank_) {  // a single element
      if (from >= begin && from < end) copy(from, to, index_t{1});
      return;
    }
    const index_t stride = from_strides_[at(d)], to_stride = to_strides_[at(d)];
    for (const shared_run& run : runs_[at(d)]) {
      const index_t first = from + run.from * stride, to_first = to + run.to * to_stride;
      if (d == last_ && run.from_step == 1 && run.to_step == 1) {
        const index_t a = std::max(begin, first), b = std::min(end, first + run.count * stride);
        if (a < b) copy(a, to_first + a - first, b - a);
        continue;
      }
      // Only the indices whose elements may be within the places.
      const index_t step = stride * run.from_step;
      const index_t skipped = std::max<index_t>(0, (begin - first - stride + 1) / step);
      const index_t left = std::min(run.count, ceil_div(std::max<index_t>(0, end - first), step));
      for (index_t i = skipped; i < left; ++i)
        walk(d + 1, first + i * step, to_first + i * to_stride * run.to_step, begin, end, copy);
    }
  }

  int rank_;
  std::array<std::vector<shared_run>, max_rank> runs_{};
  std::array<index_t, max_rank> from_strides_{}, to_strides_{};
  /// The last dimension of which the pieces share a part: those after it are whole in both.
  int last_ = 0;
  index_t size_ = 1;
};

}  // namespace shardwise
