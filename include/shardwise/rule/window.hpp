// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/shard.hpp"

#include <cstdint>

namespace shardwise {

/// Returns the sum of two known sizes, INT64_MAX if it is too large for a tensor.
[[nodiscard]] constexpr index_t size_sum(index_t a, index_t b) noexcept {
  return a > 0 && b > INT64_MAX - a ? INT64_MAX : a + b;
}

/// How an index of one dimension reads a window of another. Index `o` of the result reads the
/// positions from `o * stride - low` to `o * stride - low + span` (exclusive) of a dimension whose
/// elements are `spacing` positions apart. The `low` positions before the first and the `high`
/// positions after the last element are padding.
///
///     // 3 elements around each: span 3, low 1, high 1
struct dimension_window {
  index_t span = 1;
  index_t stride = 1;
  index_t low = 0;
  index_t high = 0;
  index_t spacing = 1;

  /// Returns the number of positions from the first to the last of `size` elements.
  [[nodiscard]] constexpr index_t spread(index_t size) const noexcept {
    return size == 0 ? 0 : (size - 1) * spacing + 1;
  }
  /// Returns how many windows fit; `dyn` if a size is `dyn`.
  [[nodiscard]] constexpr index_t count(index_t size) const noexcept {
    if (size == dyn || span == dyn) return dyn;
    const index_t room = size_sum(size_sum(spread(size), low), high) - span;
    return room < 0 ? 0 : room / stride + 1;
  }
  /// Returns which of `size` elements the windows of these indices read.
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
  /// True if each index reads only the element with the same index.
  [[nodiscard]] constexpr bool is_pointwise() const noexcept {
    return span == 1 && stride == 1 && low == 0 && high == 0 && spacing == 1;
  }

  friend constexpr bool operator==(const dimension_window&, const dimension_window&) = default;
};

/// The largest halo before and after its own elements that a device needs of a split dimension;
/// `is_known` is false if that depends on sizes known only at run time, or on thousands of unequal
/// parts.
struct needed_halo {
  index_t before = 0;
  index_t behind = 0;
  bool is_known = true;

  [[nodiscard]] constexpr bool is_nothing() const noexcept {
    return is_known && before == 0 && behind == 0;
  }
};

namespace detail {

/// Calls `f` with positions among `parts` devices that include those which need the largest halos:
/// every position or, if there are many equal parts, those where the need, which is piecewise
/// linear in the position, changes its slope. Returns false if there are too many to visit.
template <class F>
constexpr bool visit_readers(index_t parts, const dimension_window& reads, index_t size,
                             const F& f) {
  constexpr index_t few = 64, most = 4096;
  const index_t count = reads.count(size);
  const bool is_linear = reads.spacing == 1 && size % parts == 0 && count % parts == 0;
  if (parts <= few || !is_linear) {
    for (index_t p = 0; p < parts && parts <= most; ++p) f(p);
    return parts <= most;
  }
  f(index_t{0});
  f(parts - 1);
  const index_t step = count / parts * reads.stride;
  if (step == 0) return true;
  // The first windows that read no padding in front, and that read any element; the last ones.
  for (const index_t place :
       {reads.low, reads.low - reads.span, size + reads.low - reads.span, size + reads.low})
    for (index_t p = place / step - 2; p <= place / step + 2; ++p)
      if (p >= 0 && p < parts) f(p);
  return true;
}

}  // namespace detail

/// Returns the halo that windows need of a dimension of `size` elements, if the dimension and the
/// result are split over the same axes into contiguous parts: the largest of all devices.
///
///     // 224 over 2 devices, windows of 7 at a stride of 2 with 3 around: 3 before, 2 behind
[[nodiscard]] constexpr needed_halo halo_of(const mesh_desc& mesh, const axis_list& axes,
                                            const dimension_window& reads, index_t size) noexcept {
  if (reads.is_pointwise()) return {};
  const index_t count = reads.count(size), parts = mesh.parts(axes);
  if (count == dyn || parts == dyn) return {0, 0, false};
  if (count > max_elements) return {0, 0, false};
  needed_halo most;
  most.is_known = detail::visit_readers(parts, reads, size, [&](index_t p) {
    const index_range needs = reads.read_by(range_at(mesh, axes, count, p), size);
    if (needs.empty()) return;
    const index_range has = range_at(mesh, axes, size, p);
    if (has.begin - needs.begin > most.before) most.before = has.begin - needs.begin;
    if (needs.end - has.end > most.behind) most.behind = needs.end - has.end;
  });
  return most;
}

}  // namespace shardwise
