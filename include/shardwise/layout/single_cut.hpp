// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"

namespace shardwise {

namespace detail {

/// Returns true if axes, one after another from the `i`-th on, cut `size` elements into pieces of
/// `piece`, the last of which may be short and those after it empty.
[[nodiscard]] constexpr bool cut_into(const mesh_desc& mesh, const axis_list& axes, int i,
                                      index_t size, index_t piece) noexcept {
  if (i == axes.ssize()) return size <= piece;
  index_t inner = piece;
  for (int k = i + 1; k < axes.ssize(); ++k) inner *= mesh.size(axes[k]);
  const index_t chunk = ceil_div(size, mesh.size(axes[i]));
  if (size > chunk && chunk != inner) return false;
  const index_t rest = chunk == 0 ? 0 : size % chunk;
  return cut_into(mesh, axes, i + 1, chunk, piece) &&
         (rest == 0 || cut_into(mesh, axes, i + 1, rest, piece));
}

}  // namespace detail

/// True if these axes give every device the same elements of a dimension, whether one after another
/// they cut what the one before left, or all at once by a single cut. One axis of several devices
/// does for every size; a size that is `dyn` may be one for which several do not.
///
///     // over x=2, y=2: 8, 7 and 3 elements are cut alike, 5 (2, 1, 1, 1 and 2, 2, 1, 0) and 6 not
[[nodiscard]] constexpr bool is_cut_alike(const mesh_desc& mesh, const axis_list& axes,
                                          index_t size) noexcept {
  int several = 0;
  bool is_known = size != dyn;
  for (std::uint8_t a : axes) {
    if (mesh.size(a) != 1) ++several;
    is_known = is_known && mesh.size(a) != dyn;
  }
  if (several < 2) return true;
  return is_known && detail::cut_into(mesh, axes, 0, size, ceil_div(size, mesh.parts(axes)));
}

/// The grain of a dimension with a single cut said axis by axis where that is the same cut; other
/// grains stay.
[[nodiscard]] constexpr grain said_by_axis(const mesh_desc& mesh, const axis_list& axes, grain how,
                                           index_t size) noexcept {
  return how.is_single_cut() && is_cut_alike(mesh, axes, size) ? grain{} : how;
}

/// The same parts of a tensor with these extents, said axis by axis wherever a single cut is the
/// same cut.
[[nodiscard]] constexpr layout_desc said_by_axis(const mesh_desc& mesh, layout_desc layout,
                                                 const extents_desc& extents) noexcept {
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.grains[d].is_single_cut())
      layout.grains[d] = said_by_axis(mesh, layout.dims[d], layout.grains[d], extents[d]);
  return layout;
}

/// Returns true if two layouts give every device the same part of a tensor with these extents,
/// which both fit, and say so in other words at most: exact or uneven, once or axis by axis.
[[nodiscard]] constexpr bool are_same_parts(const mesh_desc& mesh, const layout_desc& a,
                                            const layout_desc& b,
                                            const extents_desc& extents) noexcept {
  layout_desc other = said_by_axis(mesh, b, extents);
  other.uneven = a.uneven;
  return said_by_axis(mesh, a, extents) == other;
}

/// The same parts of a tensor with these extents, said by single cuts wherever cutting axis by axis
/// is the same: the words of HLO, Shardy and JAX. Exact layouts stay.
[[nodiscard]] constexpr layout_desc in_single_cuts(const mesh_desc& mesh, layout_desc layout,
                                                   const extents_desc& extents) noexcept {
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.uneven && layout.dims[d].size() > 1 && layout.grains[d].is_contiguous() &&
        is_cut_alike(mesh, layout.dims[d], extents[d]))
      layout.grains[d] = grain::single_cut();
  return layout;
}

}  // namespace shardwise
