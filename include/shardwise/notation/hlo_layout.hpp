// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/hlo_canonical.hpp"
#include "shardwise/notation/named_sharding.hpp"

namespace shardwise {
namespace detail {

/// Collects the digits of a tile's number, axis by axis, and the dimensions that they form.
class tile_builder {
 public:
  explicit constexpr tile_builder(const mesh_desc& mesh) noexcept : mesh_(mesh) {}

  /// Adds parts of axes that form one dimension together.
  constexpr void add(const axis_refs& refs) noexcept {
    dims.push_back(part_count(mesh_, refs));
    for (const axis_ref& ref : refs) {
      add_digit(ref);
      if (used_.full()) too_many = true;
      if (!too_many) used_.push_back(ref);
    }
  }
  /// Adds every part of every axis that has not been added yet, in mesh order.
  constexpr void add_rest() noexcept {
    index_t size = 1;
    for (std::uint8_t a = 0; a < mesh_.rank(); ++a)
      for (index_t pre = 1; pre < mesh_.size(a) && !too_many;) {
        index_t next = mesh_.size(a);
        bool free = true;
        for (const axis_ref& ref : used_) {
          if (ref.axis != a) continue;
          if (ref.pre > pre && ref.pre < next) next = ref.pre;
          if (ref.pre == pre) {
            next = ref.next_pre(mesh_);
            free = false;
            break;
          }
        }
        if (free) {
          add_digit({a, pre, next / pre});
          size *= next / pre;
        }
        pre = next;
      }
    dims.push_back(size);
  }

  tile_dims dims{};
  tile_digits digits{};
  bool too_many = false;

 private:
  constexpr void add_digit(const axis_ref& ref) noexcept {
    if (ref.size_on(mesh_) == 1) return;
    index_t stride = mesh_.size(ref.axis) / ref.next_pre(mesh_);
    for (int a = ref.axis + 1; a < mesh_.rank(); ++a) stride *= mesh_.size(a);
    if (digits.full()) too_many = true;
    if (!too_many) digits.push_back({ref.size_on(mesh_), stride});
  }

  const mesh_desc& mesh_;
  inplace_vector<axis_ref, 2 * max_tile_dims> used_{};
};

}  // namespace detail

/// Returns the tiles of a named sharding: an order of devices, or, if the mesh has an explicit
/// order, a list, for which the buffer must have room.
///
/// Rejects a pending product, maximum or minimum, which HLO tiles cannot express.
///
///     // mesh(a=2, b=4, c=4), [{c}, {a, b}] is {devices=[4,8]<=[8,4]T(1,0)}
[[nodiscard]] constexpr hlo_result to_hlo(const named_sharding& named,
                                          device_buffer& buffer) noexcept {
  const auto refuse = [](text_view reason) { return hlo_result{{}, {0, reason}}; };
  if (const text_view reason = why_not(named); !reason.empty()) return refuse(reason);
  if (named.kind != reduction::sum) return refuse("tiles are unreduced by a sum");
  hlo_sharding sharding;
  if (named.on.maximal()) return {{.kind = hlo_kind::maximal, .device = named.on.device}, {}};
  constexpr hlo_kind whole[] = {hlo_kind::tiled, hlo_kind::replicated, hlo_kind::manual,
                                hlo_kind::unreduced};
  sharding.kind = whole[static_cast<unsigned>(named.whole)];
  if (sharding.kind != hlo_kind::tiled) return {sharding, {}};

  detail::tile_builder builder(named.on.mesh);
  for (const named_dim& dim : named.dims) builder.add(dim.axes);
  builder.add(named.manual);
  builder.add(named.unreduced);
  builder.add_rest();
  if (builder.too_many) return refuse("a mesh is cut into at most 16 parts");
  sharding.tiles.dims = builder.dims;
  sharding.tiles.order = order_of(builder.digits);
  sharding.groups = {hlo_group::manual, hlo_group::unreduced, hlo_group::replicated};
  if (named.on.devices.empty()) return canonical(sharding, buffer);
  index_t* const list = buffer.take(sharding.tiles.count());
  if (list == nullptr) return refuse("the buffer has room for every device");
  for (index_t i = 0; i < sharding.tiles.count(); ++i)
    list[i] = named.on.devices[sharding.tiles.order.at(i)];
  sharding.tiles.list = {list, sharding.tiles.count()};
  const index_t replicas = builder.dims.back();
  for (index_t i = 0; replicas > 1 && i < sharding.tiles.count(); i += replicas)
    detail::sort_devices(list + i, replicas);
  return canonical(sharding, buffer);
}

/// Returns the tiles of a layout. `devices` overrides the order of devices of the mesh.
///
///     // rows over "data" of mesh(data=2, model=4): {devices=[2,1,4]<=[8] last_tile_dim_replicate}
[[nodiscard]] constexpr hlo_result to_hlo(const mesh_desc& mesh, const layout_desc& layout,
                                          device_buffer& buffer,
                                          device_view devices = {}) noexcept {
  return to_hlo(to_named(mesh, layout, devices), buffer);
}

/// Returns the layout on `mesh` that has these tiles, for a tensor of this rank: the inverse of
/// `to_hlo`. Axes of size 1 do not appear in tiles, so they split nothing in the result. Uneven
/// tiles mean a `single_cut`; `uneven` requests the same axes cut one after another.
///
/// Rejects tiles that no axes of the mesh produce, and maximal shardings. If the mesh has an
/// explicit order, the buffer must have room for twice the devices.
[[nodiscard]] constexpr read_layout to_layout(const hlo_sharding& given, const mesh_desc& mesh,
                                              int rank, device_buffer& buffer,
                                              device_view given_devices = {},
                                              policy_desc policy = exact{}) noexcept {
  const device_view devices = devices_of(mesh, given_devices);
  const auto refuse = [](text_view reason) { return read_layout{{}, {0, reason}}; };
  read_layout result;
  layout_desc& layout = result.layout;
  layout.follow(policy);
  if (rank < 0 || rank > max_rank) return refuse("a tensor has at most 8 dimensions");
  if (const text_view reason = why_not(mesh, devices); !reason.empty()) return refuse(reason);
  layout.dims.resize(static_cast<std::size_t>(rank));
  switch (given.kind) {
    case hlo_kind::replicated:
      return result;
    case hlo_kind::manual:
    case hlo_kind::unreduced: {
      std::uint8_t& bits = given.kind == hlo_kind::manual ? layout.manual : layout.pending;
      for (unsigned a = 0; a < mesh.axes.size(); ++a)
        if (mesh.size(int(a)) > 1) bits = static_cast<std::uint8_t>(bits | 1U << a);
      return result;
    }
    case hlo_kind::maximal:
      return refuse("a layout has a mesh, not one device");
    case hlo_kind::unknown:
      return refuse("an unknown sharding has no layout");
    default:
      break;
  }
  if (given.rank() != rank) return refuse("a sharding has one entry for each dimension");
  if (given.tiles.count() != mesh.devices()) return refuse("tiles and mesh have as many devices");

  // A step along an axis changes one digit of the tile's number: its position tells what the axis
  // splits, and its stride how many devices are minor to it.
  struct step {
    std::uint8_t axis;
    index_t size;
  };
  inplace_vector<step, max_axes> steps[max_tile_dims];
  const index_t origin = given.tiles.find(devices[0]);
  index_t below = mesh.devices();
  for (std::uint8_t a = 0; a < mesh.rank(); ++a) {
    below /= mesh.size(a);
    if (mesh.size(a) == 1) continue;
    index_t here = given.tiles.find(devices[below]);
    index_t there = origin;
    for (int d = given.tiles.dims.ssize() - 1; d >= 0; --d) {
      const index_t moved = here % given.tiles.dims[d] - there % given.tiles.dims[d];
      if (moved > 0) steps[d].push_back({a, moved});
      here /= given.tiles.dims[d];
      there /= given.tiles.dims[d];
    }
  }
  for (int d = 0; d < given.tiles.dims.ssize(); ++d) {
    const int group = d - rank;
    if (group >= 0 && given.groups[group] == hlo_group::replicated) continue;
    auto& split = steps[d];
    for (int i = 1; i < split.ssize(); ++i)
      for (int k = i; k > 0 && split[k - 1].size < split[k].size; --k)
        std::swap(split[k - 1], split[k]);
    for (const step& one : split) {
      const unsigned bit = 1U << one.axis;
      if (layout.dim_of(one.axis) >= 0 || ((layout.pending | layout.manual) & bit) != 0)
        return refuse("no axes of the mesh make these tiles");
      std::uint8_t& bits =
          group >= 0 && given.groups[group] == hlo_group::manual ? layout.manual : layout.pending;
      if (group < 0)
        layout.dims[d].push_back(one.axis);
      else
        bits = static_cast<std::uint8_t>(bits | bit);
    }
  }
  const index_t room = buffer.room();
  layout.follow(exact{});  // tiles are the same for every policy
  const hlo_result again = to_hlo(mesh, layout, buffer, devices);
  layout.follow(policy);
  const bool same = again.verdict.ok() && same_placement(again.sharding, given);
  buffer.give_back(room - buffer.room());
  if (!again.verdict.ok()) return {{}, again.verdict};
  return same ? result : refuse("no axes of the mesh make these tiles");
}

}  // namespace shardwise
