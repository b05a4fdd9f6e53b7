// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/equal_shards.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/rule/manual_collective.hpp"

namespace shardwise::detail {

/// How devices get the elements at one index of a dimension that they split evenly without
/// gathering it: the device that has them sends them to the others.
struct shard_owner {
  /// The axes of the dimension, the position of the owner along them, or -1 if the elements cannot
  /// be sent in this way, and the index in its shard.
  axis_list axes{};
  index_t position = -1;
  index_t local = 0;

  [[nodiscard]] constexpr bool is_possible() const noexcept { return position >= 0; }
  [[nodiscard]] constexpr manual_collective sending() const noexcept {
    return {.kind = collective::broadcast, .axes = axes, .moves = position_moves::root(position)};
  }

  /// Plans to read what a slice that drops its dimension reads, if devices may communicate over
  /// `permitted` axes, a bit mask. It is possible if these split the dimension, and
  /// `has_equal_shards`.
  [[nodiscard]] static constexpr shard_owner of(const mesh_desc& mesh, const tensor_desc& x,
                                                const attributes& slice,
                                                unsigned permitted) noexcept {
    if (!slice_operation::check(slice, {x}).ok() || !has_equal_shards(mesh, x)) return {};
    const auto dim = static_cast<int>(slice.integers[0]);
    const axis_list& axes = x.layout.dims[dim];
    const unsigned needed = bits_of(real_axes(mesh, axes));
    if (needed == 0 || (needed & ~permitted) != 0) return {};
    const index_t part = x.extents[dim] / mesh.parts(axes);
    const index_t index = slice_operation::range_of(slice, x.extents[dim]).first;
    return {axes, index / part, index % part};
  }
  /// Returns the layout of the result.
  [[nodiscard]] static constexpr layout_desc result_of(const mesh_desc& mesh, tensor_desc x,
                                                       const attributes& slice) noexcept {
    x.layout.unsplit(static_cast<int>(slice.integers[0]));
    return propagate(mesh, slice_operation::rule(slice, {x}), {x}).result.layout;
  }
};

}  // namespace shardwise::detail
