// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/equal_shards.hpp"
#include "shardwise/operation/over.hpp"
#include "shardwise/rule/manual_collective.hpp"

namespace shardwise::detail {

/// How the devices that split dimensions evenly reverse them without gathering them: along each,
/// the first device exchanges its shard with the last, the second with the last but one, and so on.
/// Then each device reverses its shard.
struct shard_mirror {
  /// The axes of each reversed dimension that is split; none if the dimensions cannot be reversed
  /// in this way.
  inplace_vector<axis_list, max_rank> dims{};

  [[nodiscard]] constexpr bool is_possible() const noexcept { return !dims.empty(); }
  /// Returns the collective that reverses the shards along the axes of a dimension.
  [[nodiscard]] static constexpr manual_collective along(const axis_list& axes) noexcept {
    return {
        .kind = collective::collective_permute, .axes = axes, .moves = position_moves::mirror()};
  }

  /// Plans to reverse dimensions, if devices may communicate over `permitted` axes, a bit mask. It
  /// is possible if these split all reversed dimensions that are split, at least one, and
  /// `has_equal_shards`.
  [[nodiscard]] static constexpr shard_mirror of(const mesh_desc& mesh, const tensor_desc& x,
                                                 const over& reversed,
                                                 unsigned permitted) noexcept {
    if (!reversed.judge(x.rank()).ok() || !has_equal_shards(mesh, x)) return {};
    shard_mirror out;
    for (int d = 0; d < x.rank(); ++d) {
      const axis_list& axes = x.layout.dims[d];
      const unsigned needed = bits_of(real_axes(mesh, axes));
      if ((reversed.bits() >> d & 1U) == 0 || needed == 0) continue;
      if ((needed & ~permitted) != 0) return {};
      out.dims.push_back(axes);
    }
    return out;
  }
};

}  // namespace shardwise::detail
