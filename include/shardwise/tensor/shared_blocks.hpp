// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/kernel/strided.hpp"
#include "shardwise/layout/shard.hpp"

namespace shardwise {

/// Elements that two parts of a dimension share: `count` of them, at equal distances in each, the
/// first at local index `from` of the one and `to` of the other.
struct shared_run {
  index_t from = 0;
  index_t to = 0;
  index_t from_step = 1;
  index_t to_step = 1;
  index_t count = 0;
};

/// Calls `f(run)` until all is said that two parts of one dimension share, in ascending order of
/// global indices.
///
/// Contiguous parts, and parts of the same split, share one run at most; where elements or blocks
/// are dealt out differently there are several.
template <class F>
void for_each_shared_run(const held_range& from, const held_range& to, const F& f) {
  const auto larger = [](index_t a, index_t b) { return a < b ? b : a; };
  const auto smaller = [](index_t a, index_t b) { return a < b ? a : b; };
  if (from.split.how == to.split.how && from.split.parts == to.split.parts) {
    const index_t begin = larger(from.range.begin, to.range.begin);
    const index_t end = smaller(from.range.end, to.range.end);
    if (begin < end)
      f(shared_run{begin - from.range.begin, begin - to.range.begin, 1, 1, end - begin});
    return;
  }
  // Both are runs of neighbours, walked side by side. Single elements at equal distances are kept
  // back and become one run.
  shared_run kept;
  for (index_t x = 0, y = 0; x < from.size() && y < to.size();) {
    const index_t here = from.global(x);
    const index_t there = to.global(y);
    const index_t begin = larger(here, there);
    const index_t end = smaller(here + from.run(x), there + to.run(y));
    if (begin < end) {
      const shared_run next{x + begin - here, y + begin - there, 1, 1, end - begin};
      const index_t from_step = next.from - kept.from - (kept.count - 1) * kept.from_step;
      const index_t to_step = next.to - kept.to - (kept.count - 1) * kept.to_step;
      const bool second = kept.count == 1;
      if (next.count == 1 && kept.count > 0 &&
          (second || (from_step == kept.from_step && to_step == kept.to_step))) {
        kept = {kept.from, kept.to, from_step, to_step, kept.count + 1};
      } else {
        if (kept.count > 0) f(kept);
        kept = next;
      }
    }
    // Past what ends first.
    x += larger(0, end - here);
    y += larger(0, end - there);
  }
  if (kept.count > 0) f(kept);
}

/// Calls `f(a, b)` for blocks of `from` and `to` that hold the same elements of a tensor: together
/// all that `a_part`, which `from` holds, and `b_part`, which `to` holds, have in common.
/// Dimensions before `dim` are met already.
///
/// The blocks are `strided` or of any type.
template <class A, class B, class F>
void for_each_shared_block(const held_box& a_part, const A& from, const held_box& b_part,
                           const B& to, const F& f, int dim = 0) {
  if (dim == a_part.ssize()) return f(from, to);
  for_each_shared_run(a_part[dim], b_part[dim], [&](const shared_run& run) {
    A a = from;
    B b = to;
    advance(a, run.from * from.strides[dim]);
    advance(b, run.to * to.strides[dim]);
    a.extents[dim] = b.extents[dim] = run.count;
    a.strides[dim] *= run.from_step;
    b.strides[dim] *= run.to_step;
    for_each_shared_block(a_part, a, b_part, b, f, dim + 1);
  });
}

/// A part that is a whole tensor.
[[nodiscard]] inline held_box whole_of(const extents_desc& extents) noexcept {
  held_box whole;
  for (index_t extent : extents) whole.push_back({{0, extent}, {}, 0});
  return whole;
}

}  // namespace shardwise
