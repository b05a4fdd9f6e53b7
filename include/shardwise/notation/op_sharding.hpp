// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/shard.hpp"
#include "shardwise/notation/hlo_layout.hpp"

namespace shardwise {

/// What PyTorch/XLA derives from a mesh and a partition spec in order to write HLO.
///
/// The axes that a spec names come first, then the others in ascending order. The devices of a
/// replication group differ along the others, in that order.
struct op_sharding {
  sharding_type type = sharding_type::replicated;
  tile_dims dims{};        ///< the number of tiles along each dimension of the tensor
  index_t group_size = 1;  ///< devices that hold the same tile
  iota_order order{};
  device_view devices{};

  [[nodiscard]] constexpr index_t group_count() const noexcept { return tile_count(dims); }
  /// Returns the device at a position of a replication group; groups are numbered row-major in
  /// `dims`.
  [[nodiscard]] constexpr index_t member(index_t group, index_t position) const noexcept {
    return devices[order.at(group * group_size + position)];
  }
  /// Returns the position of a device in its group.
  [[nodiscard]] constexpr index_t replica_of(index_t device) const noexcept {
    for (index_t i = 0; i < order.count(); ++i)
      if (devices[order.at(i)] == device) return i % group_size;
    return -1;
  }
  /// True if every device holds every element, whatever the type is.
  [[nodiscard]] constexpr bool is_replicated() const noexcept { return group_count() == 1; }
};

/// An op sharding, or the reason why there is none.
struct op_result {
  op_sharding sharding{};
  parse_verdict verdict{};
};

/// Returns the op sharding of a layout on a mesh, with the documented types: it is partial if the
/// mesh has more dimensions than the spec has entries, even if the spec names no axis.
///
///     // rows over "data" of mesh(data=2, model=4): partial, groups 0 1 2 3 and 4 5 6 7
[[nodiscard]] constexpr op_result to_op_sharding(const mesh_desc& mesh, const layout_desc& layout,
                                                 device_view given = {}) noexcept {
  const device_view devices = devices_of(mesh, given);
  const auto refuse = [](text_view reason) { return op_result{{}, {0, reason}}; };
  if (const text_view reason = why_not(mesh, devices); !reason.empty()) return refuse(reason);
  if (layout.pending != 0) return refuse("an op sharding has no pending reductions");
  const bool all_manual = layout.manual_axes().ssize() == mesh.rank() && layout.manual != 0;
  if (layout.manual != 0 && !all_manual)
    return refuse("an op sharding is manual over every axis or none");
  op_result result;
  op_sharding& op = result.sharding;
  op.devices = devices;
  detail::tile_builder builder(mesh);
  const named_sharding named = to_named(mesh, layout);
  if (const text_view reason = why_not(named); !reason.empty()) return refuse(reason);
  int split = 0;  // entries of the spec that name axes
  for (int d = 0; d < layout.rank(); ++d) {
    builder.add(named.dims[d].axes);
    if (!layout.dims[d].empty()) ++split;
  }
  builder.add_rest();
  op.group_size = builder.dims.back();
  op.dims = builder.dims;
  op.dims.pop_back();
  op.order = order_of(builder.digits);
  const int left = mesh.rank() - layout.splitting_axes().ssize();
  if (all_manual)
    op.type = sharding_type::manual;
  else if (layout.rank() == 0)
    op.type = sharding_type::replicated;
  else if (split + left > layout.rank())
    op.type = sharding_type::partial;
  else if (mesh.devices() == 1)
    op.type = sharding_type::maximal;
  else if (split == 0)
    op.type = sharding_type::replicated;
  else
    op.type = split < layout.rank() ? sharding_type::partial : sharding_type::tiled;
  return result;
}

/// Returns the indices of tile `tile` of `tiles` along a dimension. Tiles have the quotient rounded
/// up; then comes a short one, then empty ones that begin and end at `size`.
///
///     static_assert(tile_range(2, 4, 5) == index_range{4, 5});
[[nodiscard]] constexpr index_range tile_range(index_t tile, index_t tiles, index_t size) noexcept {
  const index_t piece = size / tiles + (size % tiles != 0 ? 1 : 0);
  const index_t begin = tile * piece < size ? tile * piece : size;
  return {begin, size - begin < piece ? size : begin + piece};
}

/// Returns the padded extents of every tile, as they are allocated.
[[nodiscard]] constexpr extents_desc padded_shape(const hlo_sharding& sharding,
                                                  const extents_desc& extents) noexcept {
  extents_desc shape = extents;
  for (int d = 0; d < sharding.rank() && d < extents.ssize(); ++d)
    shape[d] = tile_range(0, sharding.tiles.dims[d], extents[d]).size();
  return shape;
}

/// What one device holds of a tensor: its box, and which replica of that box it is.
struct hlo_shard {
  index_box part{};
  index_t replica = 0;

  friend constexpr bool operator==(const hlo_shard&, const hlo_shard&) = default;
};

/// Returns the shard at a position of a sharding with tiles. Other shardings have no positions: the
/// position is then the device, and devices outside a maximal sharding hold nothing.
///
/// A dimension is divided once over all of its axes, as in HLO and in layouts with the policy
/// `single_cut`.
[[nodiscard]] constexpr hlo_shard shard_at(const hlo_sharding& sharding,
                                           const extents_desc& extents, index_t position) noexcept {
  hlo_shard shard;
  const bool tiled = sharding.kind == hlo_kind::tiled;
  const bool nothing = sharding.kind == hlo_kind::maximal && position != sharding.device;
  const index_t group = tiled ? sharding.group_size() : 1;
  index_t tile = position / group;
  shard.part.resize(extents.size());
  for (int d = extents.ssize() - 1; d >= 0; --d) {
    const index_t tiles = tiled && d < sharding.rank() ? sharding.tiles.dims[d] : 1;
    shard.part[d] = nothing ? index_range{} : tile_range(tile % tiles, tiles, extents[d]);
    tile /= tiles;
  }
  if (tiled) shard.replica = position % sharding.replicas();
  if (sharding.kind == hlo_kind::replicated) shard.replica = position;
  return shard;
}

/// Returns the shard of a device.
[[nodiscard]] constexpr hlo_shard shard_of(const hlo_sharding& sharding,
                                           const extents_desc& extents, index_t device) noexcept {
  const bool tiled = sharding.kind == hlo_kind::tiled;
  return shard_at(sharding, extents, tiled ? sharding.tiles.find(device) : device);
}

}  // namespace shardwise
