// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/tensor_desc.hpp"

namespace shardwise::detail {

/// Returns true if devices can exchange their shards of a tensor: all split dimensions are divided
/// evenly into contiguous parts, and nothing is pending or manual.
[[nodiscard]] constexpr bool has_equal_shards(const mesh_desc& mesh,
                                              const tensor_desc& x) noexcept {
  const layout_desc& layout = x.layout;
  if (!is_known(mesh, x.extents) || layout.rank() != x.rank() || layout.pending != 0 ||
      layout.manual != 0 || !layout.is_contiguous())
    return false;
  for (int d = 0; d < x.rank(); ++d)
    if (x.extents[d] % mesh.parts(layout.dims[d]) != 0) return false;
  return true;
}

}  // namespace shardwise::detail
