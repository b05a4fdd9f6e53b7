// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"

namespace shardwise {

namespace detail {

/// Returns true if cutting `size` elements axis by axis gives pieces of `piece` elements, of which
/// the last may be short and those after it empty.
[[nodiscard]] constexpr bool cut_into(const mesh_desc& mesh, const axis_list& axes, index_t size,
                                      index_t piece) noexcept {
  for (int i = 0; i < axes.ssize(); ++i) {
    const index_t chunk = ceil_div(size, mesh.size(axes[i]));
    if (size <= chunk) continue;
    index_t inner = piece;
    for (int k = i + 1; k < axes.ssize(); ++k) inner *= mesh.size(axes[k]);
    if (chunk != inner) return false;
    // Whole chunks are cut evenly by the axes that follow: what they do to the rest decides.
    size %= chunk;
  }
  return size <= piece;
}

}  // namespace detail

/// True if cutting a dimension axis by axis gives every device the same elements as a single cut
/// over these axes. With at most one axis of several devices this holds for every size; otherwise
/// it is false for `dyn` sizes, for some of which it does not hold.
///
///     // over x=2, y=2: true for 8, 7 and 3 elements, false for 5 (2, 1, 1, 1 and 2, 2, 1, 0) and
///     6
[[nodiscard]] constexpr bool is_cut_alike(const mesh_desc& mesh, const axis_list& axes,
                                          index_t size) noexcept {
  int several = 0;
  bool is_known = size != dyn;
  for (std::uint8_t a : axes) {
    if (mesh.size(a) != 1) ++several;
    is_known = is_known && mesh.size(a) != dyn;
  }
  if (several < 2) return true;
  return is_known && detail::cut_into(mesh, axes, size, ceil_div(size, mesh.parts(axes)));
}

/// Returns the axis-by-axis grain for a single cut that gives the same parts; other grains are
/// returned unchanged.
[[nodiscard]] constexpr grain said_by_axis(const mesh_desc& mesh, const axis_list& axes, grain how,
                                           index_t size) noexcept {
  return how.is_single_cut() && is_cut_alike(mesh, axes, size) ? grain{} : how;
}

/// Returns the layout of a tensor with these extents in which every single cut is expressed axis by
/// axis if the parts are the same.
[[nodiscard]] constexpr layout_desc said_by_axis(const mesh_desc& mesh, layout_desc layout,
                                                 const extents_desc& extents) noexcept {
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.grains[d].is_single_cut())
      layout.grains[d] = said_by_axis(mesh, layout.dims[d], layout.grains[d], extents[d]);
  return layout;
}

/// Returns true if two layouts give every device the same part of a tensor with these extents: they
/// are equal but for the policy, or for single cuts that equal cuts axis by axis. Both must fit the
/// extents.
[[nodiscard]] constexpr bool are_same_parts(const mesh_desc& mesh, const layout_desc& a,
                                            const layout_desc& b,
                                            const extents_desc& extents) noexcept {
  layout_desc other = said_by_axis(mesh, b, extents);
  other.uneven = a.uneven;
  return said_by_axis(mesh, a, extents) == other;
}

/// Returns the layout of a tensor with these extents in which cuts axis by axis are expressed as
/// single cuts, the form of HLO, Shardy and JAX, if the parts are the same. Exact layouts are
/// unchanged.
[[nodiscard]] constexpr layout_desc in_single_cuts(const mesh_desc& mesh, layout_desc layout,
                                                   const extents_desc& extents) noexcept {
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.uneven && layout.dims[d].size() > 1 && layout.grains[d].is_contiguous() &&
        is_cut_alike(mesh, layout.dims[d], extents[d]))
      layout.grains[d] = grain::single_cut();
  return layout;
}

}  // namespace shardwise
