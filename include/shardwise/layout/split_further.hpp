// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"

namespace shardwise {

/// Returns the layout with one dimension split over one more axis: the first dimension that is then
/// still evenly divisible. Returns the layout unchanged if there is none, if the axis already
/// splits a dimension, is pending or manual, or if sizes are known only at run time.
///
///     // f32[16, 32@model] over data: f32[16@data, 32@model]
[[nodiscard]] constexpr layout_desc split_further(const mesh_desc& mesh, layout_desc layout,
                                                  const extents_desc& extents, int axis) noexcept {
  const auto added = static_cast<std::uint8_t>(axis);
  if (axis < 0 || layout.dim_of(added) >= 0) return layout;
  if (((layout.pending | layout.manual) >> axis & 1U) != 0) return layout;
  for (int d = 0; d < layout.rank(); ++d) {
    axis_list split = layout.dims[d];
    split.push_back(added);
    const index_t parts = mesh.parts(split);
    if (!layout.grains[d].is_contiguous() || parts == dyn || extents[d] == dyn ||
        extents[d] % parts != 0)
      continue;
    layout.dims[d] = split;
    return layout;
  }
  return layout;
}

}  // namespace shardwise
