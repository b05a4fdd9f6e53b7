// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"

namespace shardwise {

/// How an index of one dimension reads a window of another: index `o` of the result reads the
/// places `o * stride - low` up to `o * stride - low + span`, not included, of a dimension whose
/// elements are `spacing` places apart. Places before the first and behind the last element, `low`
/// and `high` of which belong to the dimension, hold nothing.
///
///     // 3 elements around each: span 3, low 1, high 1
struct window {
  index_t span = 1;
  index_t stride = 1;
  index_t low = 0;
  index_t high = 0;
  index_t spacing = 1;

  /// The places from the first to the last of `size` elements.
  [[nodiscard]] constexpr index_t spread(index_t size) const noexcept {
    return size == 0 ? 0 : (size - 1) * spacing + 1;
  }
  /// How many windows fit; `dyn` where a size is.
  [[nodiscard]] constexpr index_t count(index_t size) const noexcept {
    if (size == dyn || span == dyn) return dyn;
    const index_t room = spread(size) + low + high - span;
    return room < 0 ? 0 : room / stride + 1;
  }
  /// The elements, of `size` that there are, that windows of these indices read.
  [[nodiscard]] constexpr index_range read_by(const index_range& windows,
                                              index_t size) const noexcept {
    if (windows.empty()) return {};
    const auto within = [&](index_t place) {
      const index_t index = place <= 0 ? 0 : ceil_div(place, spacing);
      return index < size ? index : size;
    };
    const index_t begin = within(windows.begin * stride - low);
    const index_t end = within((windows.end - 1) * stride - low + span);
    return {begin, end < begin ? begin : end};
  }
  /// True if each index reads the element of the same number alone.
  [[nodiscard]] constexpr bool is_pointwise() const noexcept {
    return span == 1 && stride == 1 && low == 0 && high == 0 && spacing == 1;
  }

  friend constexpr bool operator==(const window&, const window&) = default;
};

/// The neighbours before and behind its own elements that a device needs, at most, of a split
/// dimension; `is_known` is false where that is for the run to tell.
struct needed_halo {
  index_t before = 0;
  index_t behind = 0;
  bool is_known = true;

  [[nodiscard]] constexpr bool is_nothing() const noexcept {
    return is_known && before == 0 && behind == 0;
  }
};

/// What the windows of a result that is split over the same axes need of a dimension of `size`
/// elements, both in contiguous parts: the most that any device does.
///
///     // 224 over 2 devices, windows of 7 at a stride of 2 with 3 around: 3 before, 2 behind
[[nodiscard]] constexpr needed_halo halo_of(const mesh_desc& mesh, const axis_list& axes,
                                            const window& reads, index_t size) noexcept {
  if (reads.is_pointwise()) return {};
  const index_t count = reads.count(size), parts = mesh.parts(axes);
  if (count == dyn || parts == dyn) return {0, 0, false};
  needed_halo most;
  for (index_t p = 0; p < parts; ++p) {
    const index_range needs = reads.read_by(range_at(mesh, axes, count, p), size);
    if (needs.empty()) continue;
    const index_range has = range_at(mesh, axes, size, p);
    if (has.begin - needs.begin > most.before) most.before = has.begin - needs.begin;
    if (needs.end - has.end > most.behind) most.behind = needs.end - has.end;
  }
  return most;
}

}  // namespace shardwise
