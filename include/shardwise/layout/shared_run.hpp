// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"

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

/// Calls `f(run)` for all elements that two parts of one dimension have in common, in ascending
/// order of global indices.
///
/// There is at most one run if both parts are contiguous or belong to the same split, and possibly
/// several under different grains.
template <class F>
constexpr void for_each_shared_run(const held_range& from, const held_range& to, const F& f) {
  if (from.split.how == to.split.how && from.split.parts == to.split.parts) {
    const index_t begin = detail::larger(from.range.begin, to.range.begin);
    const index_t end = detail::smaller(from.range.end, to.range.end);
    if (begin < end)
      f(shared_run{begin - from.range.begin, begin - to.range.begin, 1, 1, end - begin});
    return;
  }
  // Both parts are walked in ascending order. Single elements at equal distances are collected into
  // one run.
  shared_run kept;
  for (index_t x = 0, y = 0; x < from.size() && y < to.size();) {
    const index_t here = from.global(x);
    const index_t there = to.global(y);
    const index_t begin = detail::larger(here, there);
    const index_t end = detail::smaller(here + from.run(x), there + to.run(y));
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
    // Continue after the part that ends first.
    x += detail::larger(0, end - here);
    y += detail::larger(0, end - there);
  }
  if (kept.count > 0) f(kept);
}

/// Returns the number of elements that two parts of a tensor have in common.
///
///     // what device 1 needs of device 0 when rows become columns
///     shared_elements(held_of(mesh, rows, extents, 0), held_of(mesh, columns, extents, 1));
[[nodiscard]] constexpr index_t shared_elements(const held_box& a, const held_box& b) noexcept {
  index_t elements = 1;
  for (int d = 0; d < a.ssize(); ++d) {
    index_t along = 0;
    for_each_shared_run(a[d], b[d], [&](const shared_run& run) { along += run.count; });
    elements *= along;
  }
  return elements;
}

}  // namespace shardwise
