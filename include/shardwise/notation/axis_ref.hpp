// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/mesh_desc.hpp"
#include "shardwise/notation/tile_assignment.hpp"

namespace shardwise {

/// An axis of a mesh, or a part of one. With the axis viewed as a box of `pre`, `size` and the
/// remaining devices, the part is the middle dimension. It is written `x:(pre)size`.
///
///     // x=8: x:(1)2 halves the axis, x:(2)4 numbers the devices of each half
struct axis_ref {
  std::uint8_t axis = 0;
  index_t pre = 1;
  index_t size = 0;  ///< 0 for the whole axis

  [[nodiscard]] constexpr bool whole() const noexcept { return size == 0; }
  /// Returns the number of devices along the part.
  [[nodiscard]] constexpr index_t size_on(const mesh_desc& mesh) const noexcept {
    return whole() ? mesh.size(axis) : size;
  }
  /// Returns the `pre` of the part that follows this one.
  [[nodiscard]] constexpr index_t next_pre(const mesh_desc& mesh) const noexcept {
    return pre * size_on(mesh);
  }

  friend constexpr bool operator==(const axis_ref&, const axis_ref&) = default;
};

/// Axes and parts of axes, major to minor.
using axis_refs = inplace_vector<axis_ref, max_tile_dims>;

/// Returns the part as it is written: a part that is the whole axis becomes the axis.
[[nodiscard]] constexpr axis_ref canonical(const mesh_desc& mesh, const axis_ref& ref) noexcept {
  return ref.pre == 1 && ref.size == mesh.size(ref.axis) ? axis_ref{ref.axis} : ref;
}

/// Returns why this is not a legal part of its axis, or nothing.
[[nodiscard]] constexpr text_view why_not(const mesh_desc& mesh, const axis_ref& ref) noexcept {
  if (ref.whole()) return {};
  const index_t full = mesh.size(ref.axis);
  if (ref.pre < 1) return "the size before a sub-axis is at least 1";
  if (ref.size < 2) return "a sub-axis has a size above 1";
  if (ref.pre > full || ref.size > full || full % (ref.pre * ref.size) != 0)
    return "a sub-axis divides its axis";
  if (ref.size == full) return "a sub-axis is not the whole axis";
  return {};
}

/// Returns why two axes or parts cannot be used in one sharding, or nothing.
[[nodiscard]] constexpr text_view why_not(const mesh_desc& mesh, const axis_ref& a,
                                          const axis_ref& b) noexcept {
  if (a.axis != b.axis) return {};
  if (a == b) return "an axis is used once";
  if (a.whole() || b.whole()) return "an axis is used as a whole or in parts";
  const axis_ref& low = a.pre < b.pre ? a : b;
  const axis_ref& high = a.pre < b.pre ? b : a;
  if (low.next_pre(mesh) > high.pre) return "sub-axes of one axis do not overlap";
  if (high.pre % low.next_pre(mesh) != 0) return "sub-axes of one axis divide it together";
  return {};
}

/// True if `next`, after `ref`, continues the same axis: both are then written as one part.
[[nodiscard]] constexpr bool merges(const mesh_desc& mesh, const axis_ref& ref,
                                    const axis_ref& next) noexcept {
  return ref.axis == next.axis && !ref.whole() && !next.whole() && ref.next_pre(mesh) == next.pre;
}

/// True if `a` comes before `b` in the order of the mesh.
[[nodiscard]] constexpr bool comes_before(const axis_ref& a, const axis_ref& b) noexcept {
  return a.axis != b.axis ? a.axis < b.axis : a.pre < b.pre;
}

/// Returns the number of devices along all of them.
[[nodiscard]] constexpr index_t part_count(const mesh_desc& mesh, const axis_refs& refs) noexcept {
  index_t n = 1;
  for (const axis_ref& ref : refs) n *= ref.size_on(mesh);
  return n;
}

/// Appends an axis, joined with the last one if it continues it.
///
///     // mesh(a=2, b=4): a, b:(1)2 and then b:(2)2 are a, b
constexpr void append_axis(const mesh_desc& mesh, axis_refs& refs, const axis_ref& ref) noexcept {
  if (refs.empty() || !merges(mesh, refs.back(), ref)) {
    refs.push_back(ref);
    return;
  }
  const axis_ref last = refs.back();
  refs.pop_back();
  refs.push_back(canonical(mesh, {last.axis, last.pre, last.size * ref.size}));
}

/// A list of axes split in two, or the reason why it cannot be.
struct sliced_axes {
  axis_refs slice{};
  axis_refs rest{};
  bool ok = true;
};

/// Splits off the major axes that make `factor` parts, dividing one axis if necessary.
///
///     // mesh(b=4, d=8): 16 of b, d are b, d:(1)4; the rest is d:(4)2
[[nodiscard]] constexpr sliced_axes slice_axes(const mesh_desc& mesh, const axis_refs& refs,
                                               index_t factor) noexcept {
  sliced_axes result;
  for (const axis_ref& ref : refs) {
    const index_t size = ref.size_on(mesh);
    if (factor <= 1) {
      result.rest.push_back(ref);
    } else if (factor % size == 0) {
      result.slice.push_back(ref);
      factor /= size;
    } else if (size % factor == 0) {
      result.slice.push_back(canonical(mesh, {ref.axis, ref.pre, factor}));
      result.rest.push_back(canonical(mesh, {ref.axis, ref.pre * factor, size / factor}));
      factor = 1;
    } else {
      return {{}, {}, false};
    }
  }
  return factor == 1 ? result : sliced_axes{{}, {}, false};
}

}  // namespace shardwise
