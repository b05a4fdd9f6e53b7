// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/equal_shards.hpp"
#include "shardwise/rule/manual_collective.hpp"

namespace shardwise::detail {

/// How the devices that split a dimension evenly roll it without gathering it: each sends the parts
/// of its shard that other devices need, at most two, to these.
///
///     // 12 elements over 4 devices by 4 places: the last element of each shard goes two devices
///     // further, its first two go one further
struct ring_roll {
  /// Elements of a shard that go to the device `by` positions further, and come first there.
  struct piece {
    index_t begin = 0;
    index_t end = 0;
    index_t by = 0;
  };

  /// The axes of the dimension, and the pieces in the order in which a device puts them together;
  /// none if the dimension cannot be rolled in this way.
  axis_list axes{};
  inplace_vector<piece, 2> pieces{};

  [[nodiscard]] constexpr bool is_possible() const noexcept { return !pieces.empty(); }
  /// Returns true if a piece is a whole shard.
  [[nodiscard]] constexpr bool moves_shards() const noexcept { return pieces.size() == 1; }
  /// Returns the collective that moves a piece; one that stays needs none.
  [[nodiscard]] constexpr manual_collective move_of(const piece& moved) const noexcept {
    return {.kind = collective::collective_permute,
            .axes = axes,
            .moves = position_moves::ring(moved.by)};
  }

  /// Plans the roll of a dimension by `places`, if devices may communicate over `permitted` axes, a
  /// bit mask. It is possible if these split the dimension, and `has_equal_shards`.
  [[nodiscard]] static constexpr ring_roll of(const mesh_desc& mesh, const tensor_desc& x, int dim,
                                              index_t places, unsigned permitted) noexcept {
    ring_roll out;
    if (dim < 0 || dim >= x.rank() || !has_equal_shards(mesh, x)) return out;
    const axis_list& axes = x.layout.dims[dim];
    const index_t size = x.extents[dim], devices = mesh.parts(axes);
    const unsigned needed = bits_of(real_axes(mesh, axes));
    if (devices < 2 || size == 0 || places % size == 0 || (needed & ~permitted) != 0) return out;
    out.axes = axes;
    const index_t part = size / devices, by = (places % size + size) % size;
    const index_t rest = by % part;
    if (rest > 0) out.pieces.push_back({part - rest, part, (by / part + 1) % devices});
    out.pieces.push_back({0, part - rest, by / part});
    return out;
  }
};

}  // namespace shardwise::detail
