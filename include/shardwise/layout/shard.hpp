// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/grained_split.hpp"
#include "shardwise/layout/index_range.hpp"
#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/mesh/group.hpp"

namespace shardwise {

/// The part of a tensor that a device holds: one range a dimension. Ranges are of global indices,
/// but in dimensions whose grain is not contiguous of indices in storage order (`grained_split`).
using index_box = inplace_vector<index_range, max_rank>;

/// The number of elements in a box.
[[nodiscard]] constexpr index_t volume(const index_box& part) noexcept {
  index_t n = 1;
  for (const index_range& range : part) n *= range.size();
  return n;
}

/// The extents of a box.
[[nodiscard]] constexpr extents_desc extents_of(const index_box& part) noexcept {
  extents_desc extents;
  for (const index_range& range : part) extents.push_back(range.size());
  return extents;
}

/// The intersection of two boxes; its ranges are empty where they do not overlap.
[[nodiscard]] constexpr index_box intersect(const index_box& a, const index_box& b) noexcept {
  index_box common;
  for (int d = 0; d < a.ssize(); ++d) {
    const index_t begin = a[d].begin > b[d].begin ? a[d].begin : b[d].begin;
    const index_t end = a[d].end < b[d].end ? a[d].end : b[d].end;
    common.push_back({begin, end < begin ? begin : end});
  }
  return common;
}

/// The range of one dimension that the device at `where` holds.
///
/// Each axis in turn, major to minor, cuts what the one before left into chunks of `ceil(n / k)`;
/// trailing chunks are short or empty. An empty range begins and ends at the end of what was cut.
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

/// The same by the position along the axes, the first one major.
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

/// A range and the neighbours that belong to its halo, as far as there are any.
[[nodiscard]] constexpr index_range with_halo(const index_range& own, grain how,
                                              index_t size) noexcept {
  const index_t begin = own.begin - how.before(), end = own.end + how.behind();
  return {begin < 0 ? 0 : begin, end < size ? end : size};
}

/// What one device has of one dimension: a range of a box, and which global indices that is.
struct held_range {
  index_range range{};
  /// How the dimension is split where its grain is not contiguous, and this device's position.
  grained_split split{};
  index_t position = 0;

  [[nodiscard]] constexpr index_t size() const noexcept { return range.size(); }
  /// The global index of local index `x`.
  [[nodiscard]] constexpr index_t global(index_t x) const noexcept {
    return split.how.is_contiguous() ? range.begin + x : split.global(position, x);
  }
  /// How many elements from local index `x` on are neighbours.
  [[nodiscard]] constexpr index_t run(index_t x) const noexcept {
    return split.how.is_contiguous() ? size() - x : split.run(position, x);
  }
};

/// What one device has of each dimension.
using held_box = inplace_vector<held_range, max_rank>;

/// The extents of what is held.
[[nodiscard]] constexpr extents_desc extents_of(const held_box& held) noexcept {
  extents_desc extents;
  for (const held_range& range : held) extents.push_back(range.size());
  return extents;
}

/// What the device at `where` has of a dimension of `size` elements, split over `axes` in portions
/// of a grain.
[[nodiscard]] constexpr held_range held_of(const mesh_desc& mesh, const axis_list& axes, grain how,
                                           index_t size, const coordinates& where) noexcept {
  if (how.is_contiguous()) return {split_range(mesh, axes, size, where), {}, 0};
  if (how.is_halo()) return {with_halo(split_range(mesh, axes, size, where), how, size), {}, 0};
  const grained_split split{how, size, mesh.parts(axes)};
  const index_t position = position_along(mesh, axes, where);
  return {{split.offset(position), split.offset(position + 1)}, split, position};
}

/// What a device holds of a tensor with these extents, and which global indices that is.
[[nodiscard]] constexpr held_box held_of(const mesh_desc& mesh, const layout_desc& layout,
                                         const extents_desc& extents, index_t device) noexcept {
  const coordinates where = mesh.at(device);
  held_box held;
  for (int d = 0; d < layout.rank(); ++d)
    held.push_back(held_of(mesh, layout.dims[d], layout.grains[d], extents[d], where));
  return held;
}

/// What a device holds of a tensor with these extents.
[[nodiscard]] constexpr index_box shard_box(const mesh_desc& mesh, const layout_desc& layout,
                                            const extents_desc& extents, index_t device) noexcept {
  const coordinates where = mesh.at(device);
  index_box part;
  for (int d = 0; d < layout.rank(); ++d)
    part.push_back(held_of(mesh, layout.dims[d], layout.grains[d], extents[d], where).range);
  return part;
}

/// The elements that the device with the most has of a dimension: device 0, unless halos differ.
[[nodiscard]] constexpr index_t largest_part(const mesh_desc& mesh, const axis_list& axes,
                                             grain how, index_t size) noexcept {
  const index_t parts = mesh.parts(axes);
  if (how.is_halo()) {
    index_t most = 0;
    for (index_t p = 0; p < parts; ++p) {
      const index_t has = with_halo(range_at(mesh, axes, size, p), how, size).size();
      most = has > most ? has : most;
    }
    return most;
  }
  return how.is_contiguous() ? ceil_div(size, parts) : grained_split{how, size, parts}.offset(1);
}

/// The extents of the largest shard: device 0's, unless halos differ.
[[nodiscard]] constexpr extents_desc largest_shard(const mesh_desc& mesh, const layout_desc& layout,
                                                   const extents_desc& extents) noexcept {
  extents_desc largest;
  for (int d = 0; d < layout.rank(); ++d)
    largest.push_back(largest_part(mesh, layout.dims[d], layout.grains[d], extents[d]));
  return largest;
}

/// The number of elements in the largest shard.
[[nodiscard]] constexpr index_t largest_shard_size(const mesh_desc& mesh, const layout_desc& layout,
                                                   const extents_desc& extents) noexcept {
  index_t n = 1;
  for (int d = 0; d < extents.ssize(); ++d) {
    const axis_list& axes = layout.dims[d];
    n *= axes.empty() ? extents[d] : largest_part(mesh, axes, layout.grains[d], extents[d]);
  }
  return n;
}

/// The product of known extents.
[[nodiscard]] constexpr index_t element_count(const extents_desc& extents) noexcept {
  index_t n = 1;
  for (index_t extent : extents) n *= extent;
  return n;
}

/// The distinct shards of a layout: the devices in one group hold the same block and are replicas.
///
/// A shard is numbered by its position along the splitting axes, then the pending ones, then the
/// manual ones; replicas differ along the remaining axes. `shards.group_of` is the replica,
/// `shards.position_of` the shard, `shards.member(replica, shard)` the device.
[[nodiscard]] constexpr device_groups shards_of(const mesh_desc& mesh,
                                                const layout_desc& layout) noexcept {
  axis_list axes = layout.splitting_axes();
  for (std::uint8_t a : layout.pending_axes()) axes.push_back(a);
  for (std::uint8_t a : layout.manual_axes()) axes.push_back(a);
  return {mesh, axes};
}

}  // namespace shardwise
