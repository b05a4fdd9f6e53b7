// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"
#include "shardwise/tensor/strided.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace shardwise {

/// Elements that two parts of a dimension share: `count` of them, at equal distances in each.
struct shared_run {
  index_t from = 0;  ///< the local index of the first in the one part
  index_t from_step = 1;
  index_t to = 0;  ///< and in the other
  index_t to_step = 1;
  index_t count = 0;
};

/// All elements that two parts of one dimension share, in ascending order of their global indices.
///
/// Contiguous parts, and parts of the same split, share one run at most; where elements or blocks
/// are dealt out differently there are several.
class shared_runs {
 public:
  shared_runs(const held_range& from, const held_range& to) {
    if (from.split.how == to.split.how && from.split.parts == to.split.parts) {
      const index_t begin = from.range.begin > to.range.begin ? from.range.begin : to.range.begin;
      const index_t end = from.range.end < to.range.end ? from.range.end : to.range.end;
      one_ = {begin - from.range.begin, 1, begin - to.range.begin, 1, end - begin};
      return;
    }
    // Both are runs of neighbours, walked side by side.
    index_t x = 0;
    index_t y = 0;
    while (x < from.size() && y < to.size()) {
      const index_t here = from.global(x);
      const index_t there = to.global(y);
      const index_t run = from.run(x);
      const index_t other = to.run(y);
      if (here + run <= there) {
        x += run;
      } else if (there + other <= here) {
        y += other;
      } else {
        const index_t begin = here > there ? here : there;
        const index_t end = here + run < there + other ? here + run : there + other;
        add(x + (begin - here), y + (begin - there), end - begin);
        x += end - here;
        y += end - there;
      }
    }
  }

  [[nodiscard]] bool empty() const noexcept { return one_.count <= 0; }
  [[nodiscard]] std::size_t size() const noexcept { return more_.size() + 1; }
  [[nodiscard]] const shared_run& operator[](std::size_t i) const noexcept {
    return i < more_.size() ? more_[i] : one_;
  }

 private:
  /// Adds neighbours; single elements at equal distances become one run.
  void add(index_t from, index_t to, index_t count) {
    const index_t from_step = from - (one_.from + (one_.count - 1) * one_.from_step);
    const index_t to_step = to - (one_.to + (one_.count - 1) * one_.to_step);
    const bool first_two = one_.count == 1 && count == 1;
    const bool follows = one_.from_step == from_step && one_.to_step == to_step &&
                         (count == 1 || (from_step == 1 && to_step == 1));
    if (first_two) {
      one_ = {one_.from, from_step, one_.to, to_step, 2};
    } else if (one_.count > 1 && follows) {
      one_.count += count;
    } else {
      if (one_.count > 0) more_.push_back(one_);
      one_ = {from, 1, to, 1, count};
    }
  }

  // The last run; those before it take memory only where there are any.
  shared_run one_{};
  std::vector<shared_run> more_{};
};

/// Calls `f(a, b)` for blocks of `from` and `to` that hold the same elements of a tensor: together
/// all that `a_part`, which `from` holds, and `b_part`, which `to` holds, have in common.
template <class A, class B, class F>
void for_each_shared_block(const held_box& a_part, const strided<A>& from, const held_box& b_part,
                           const strided<B>& to, const F& f) {
  std::vector<shared_runs> more;  // of the dimensions that have several runs
  inplace_vector<int, max_rank> which;
  strided<A> a = from;
  strided<B> b = to;
  const auto take = [](strided<A>& one, strided<B>& other, const strided<A>& of_one,
                       const strided<B>& of_other, int d, const shared_run& run) {
    one.data += run.from * of_one.strides[d];
    other.data += run.to * of_other.strides[d];
    one.extents[d] = run.count;
    other.extents[d] = run.count;
    one.strides[d] = run.from_step * of_one.strides[d];
    other.strides[d] = run.to_step * of_other.strides[d];
  };
  for (int d = 0; d < a_part.ssize(); ++d) {
    shared_runs runs(a_part[d], b_part[d]);
    if (runs.empty()) return;
    if (runs.size() == 1) {
      take(a, b, from, to, d, runs[0]);
    } else {
      more.push_back(std::move(runs));
      which.push_back(d);
    }
  }
  if (more.empty()) return f(a, b);
  inplace_vector<index_t, max_rank> at;
  at.resize(which.size());
  for (int k = 0; k >= 0;) {
    strided<A> one = a;
    strided<B> other = b;
    for (int i = 0; i < which.ssize(); ++i)
      take(one, other, from, to, which[i],
           more[static_cast<std::size_t>(i)][static_cast<std::size_t>(at[i])]);
    f(one, other);
    for (k = which.ssize() - 1; k >= 0; --k) {
      if (++at[k] < static_cast<index_t>(more[static_cast<std::size_t>(k)].size())) break;
      at[k] = 0;
    }
  }
}

/// A part that is a whole tensor.
[[nodiscard]] inline held_box whole_of(const extents_desc& extents) noexcept {
  held_box whole;
  for (index_t extent : extents) whole.push_back({{0, extent}, {}, 0});
  return whole;
}

}  // namespace shardwise
