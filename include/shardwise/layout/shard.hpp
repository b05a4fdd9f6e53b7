// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/grained_split.hpp"
#include "shardwise/layout/index_range.hpp"
#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/mesh/group.hpp"

namespace shardwise {

/// The part of a tensor that a device holds: one range per dimension. Ranges are of global indices,
/// except in dimensions whose grain is not contiguous, where they are in storage order
/// (`grained_split`).
using index_box = inplace_vector<index_range, max_rank>;

/// Returns the number of elements in a box.
[[nodiscard]] constexpr index_t volume_of(const index_box& part) noexcept {
  index_t n = 1;
  for (const index_range& range : part) n *= range.size();
  return n;
}

/// Returns the extents of a box.
[[nodiscard]] constexpr extents_desc extents_of(const index_box& part) noexcept {
  extents_desc extents;
  for (const index_range& range : part) extents.push_back(range.size());
  return extents;
}

/// Returns the intersection of two boxes; its ranges are empty where they do not overlap.
[[nodiscard]] constexpr index_box intersect(const index_box& a, const index_box& b) noexcept {
  index_box common;
  for (int d = 0; d < a.ssize(); ++d) {
    const index_t begin = a[d].begin > b[d].begin ? a[d].begin : b[d].begin;
    const index_t end = a[d].end < b[d].end ? a[d].end : b[d].end;
    common.push_back({begin, end < begin ? begin : end});
  }
  return common;
}

/// Returns the range of one dimension that the device at `where` holds.
///
/// Each axis in turn, major to minor, cuts the part left by the axis before it into chunks of
/// `ceil(n / k)`; trailing chunks are short or empty. An empty range is placed at the end of what
/// was cut.
///
///     // 5 rows over x=2, y=2: x leaves [0,3) and [3,5); y cuts them to 2, 1 and 1, 1
[[nodiscard]] constexpr index_range split_range(const mesh_desc& mesh, const axis_list& axes,
                                                index_t size, const coordinates& where) noexcept {
  index_range left{0, size};
  for (std::uint8_t a : axes) {
    const index_t chunk = ceil_div(left.size(), mesh.size(a));
    const index_t begin = left.begin + where[a] * chunk;
    const index_t end = begin + chunk;
    left = {begin < left.end ? begin : left.end, end < left.end ? end : left.end};
  }
  return left;
}

/// Takes the position along the axes, the first one major, instead of coordinates.
[[nodiscard]] constexpr index_range range_at(const mesh_desc& mesh, const axis_list& axes,
                                             index_t size, index_t position) noexcept {
  coordinates where;
  where.resize(mesh.axes.size());
  for (int i = axes.ssize() - 1; i >= 0; --i) {
    where[axes[i]] = position % mesh.size(axes[i]);
    position /= mesh.size(axes[i]);
  }
  return split_range(mesh, axes, size, where);
}

/// Returns a range extended by its halo, within the bounds of the dimension.
[[nodiscard]] constexpr index_range with_halo(const index_range& own, grain how,
                                              index_t size) noexcept {
  const index_t begin = own.begin - how.before(), end = own.end + how.behind();
  return {begin < 0 ? 0 : begin, end < size ? end : size};
}

/// What one device holds of one dimension: a range of a box, and which global indices it stands
/// for.
struct held_range {
  index_range range{};
  /// The split and the position of this device, if the grain is not contiguous.
  grained_split split{};
  index_t position = 0;

  [[nodiscard]] constexpr index_t size() const noexcept { return range.size(); }
  /// Returns the global index of local index `x`.
  [[nodiscard]] constexpr index_t global(index_t x) const noexcept {
    return split.how.is_contiguous() ? range.begin + x : split.global(position, x);
  }
  /// Returns how many elements from local index `x` on have consecutive global indices.
  [[nodiscard]] constexpr index_t run(index_t x) const noexcept {
    return split.how.is_contiguous() ? size() - x : split.run(position, x);
  }
};

/// What one device holds of each dimension.
using held_box = inplace_vector<held_range, max_rank>;

/// Returns the extents of what is held.
[[nodiscard]] constexpr extents_desc extents_of(const held_box& held) noexcept {
  extents_desc extents;
  for (const held_range& range : held) extents.push_back(range.size());
  return extents;
}

/// Returns what the device at `where` holds of a dimension of `size` elements, split over `axes`
/// with a grain.
[[nodiscard]] constexpr held_range held_of(const mesh_desc& mesh, const axis_list& axes, grain how,
                                           index_t size, const coordinates& where) noexcept {
  if (how.is_contiguous()) return {split_range(mesh, axes, size, where), {}, 0};
  if (how.is_halo()) return {with_halo(split_range(mesh, axes, size, where), how, size), {}, 0};
  const grained_split split{how, size, mesh.parts(axes)};
  const index_t position = position_along(mesh, axes, where);
  return {{split.offset(position), split.offset(position + 1)}, split, position};
}

/// Returns what a device holds of a tensor with these extents, with the global indices.
[[nodiscard]] constexpr held_box held_of(const mesh_desc& mesh, const layout_desc& layout,
                                         const extents_desc& extents, index_t device) noexcept {
  const coordinates where = mesh.at(device);
  held_box held;
  for (int d = 0; d < layout.rank(); ++d)
    held.push_back(held_of(mesh, layout.dims[d], layout.grains[d], extents[d], where));
  return held;
}

/// Returns the box that a device holds of a tensor with these extents.
[[nodiscard]] constexpr index_box shard_box(const mesh_desc& mesh, const layout_desc& layout,
                                            const extents_desc& extents, index_t device) noexcept {
  const coordinates where = mesh.at(device);
  index_box part;
  for (int d = 0; d < layout.rank(); ++d)
    part.push_back(held_of(mesh, layout.dims[d], layout.grains[d], extents[d], where).range);
  return part;
}

/// Returns the size of the largest part of a dimension: that of device 0, unless halos differ.
[[nodiscard]] constexpr index_t largest_part(const mesh_desc& mesh, const axis_list& axes,
                                             grain how, index_t size) noexcept {
  const index_t parts = mesh.parts(axes);
  if (how.is_halo()) {
    const index_t part = size / parts;
    // A device in the middle has both sides of its halo.
    if (parts > 2 && size % parts == 0 && how.before() <= part && how.behind() <= part)
      return how.before() + part + how.behind();
    index_t most = 0;
    for (index_t p = 0; p < parts; ++p) {
      const index_t has = with_halo(range_at(mesh, axes, size, p), how, size).size();
      most = has > most ? has : most;
    }
    return most;
  }
  return how.is_contiguous() ? ceil_div(size, parts) : grained_split{how, size, parts}.offset(1);
}

/// Returns the extents of the largest shard: that of device 0, unless halos differ.
[[nodiscard]] constexpr extents_desc largest_shard(const mesh_desc& mesh, const layout_desc& layout,
                                                   const extents_desc& extents) noexcept {
  extents_desc largest;
  for (int d = 0; d < layout.rank(); ++d)
    largest.push_back(largest_part(mesh, layout.dims[d], layout.grains[d], extents[d]));
  return largest;
}

/// Returns the number of elements in the largest shard.
[[nodiscard]] constexpr index_t largest_shard_size(const mesh_desc& mesh, const layout_desc& layout,
                                                   const extents_desc& extents) noexcept {
  index_t n = 1;
  for (int d = 0; d < extents.ssize(); ++d) {
    const axis_list& axes = layout.dims[d];
    n *= axes.empty() ? extents[d] : largest_part(mesh, axes, layout.grains[d], extents[d]);
  }
  return n;
}

/// Returns the product of known extents.
[[nodiscard]] constexpr index_t element_count(const extents_desc& extents) noexcept {
  index_t n = 1;
  for (index_t extent : extents) n *= extent;
  return n;
}

/// The distinct shards of a layout. Devices that hold the same block are replicas of one shard.
///
/// A shard is numbered by its position along the splitting axes, then the pending ones, then the
/// manual ones; replicas differ along the remaining axes. `shards.group_of` returns the replica,
/// `shards.position_of` the shard, and `shards.member(replica, shard)` the device.
[[nodiscard]] constexpr device_groups shards_of(const mesh_desc& mesh,
                                                const layout_desc& layout) noexcept {
  axis_list axes = layout.splitting_axes();
  for (std::uint8_t a : layout.pending_axes()) axes.push_back(a);
  for (std::uint8_t a : layout.manual_axes()) axes.push_back(a);
  return {mesh, axes};
}

}  // namespace shardwise
