// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/hlo_layout.hpp"
#include "shardwise/notation/named_text.hpp"

namespace shardwise {

/// The groups of a collective: groups of equal size that partition the devices. The order of
/// members is significant: it is the order of the parts in an all-gather.
///
///     // groups along "model" of mesh(data=2, model=4): {{0,1,2,3},{4,5,6,7}}, or [2,4]<=[8]
struct replica_groups {
  /// Its dimensions are the groups and the members of each; without dimensions all devices are one
  /// group.
  tile_assignment members{};

  /// True for the single group of all devices, whose number the text does not tell.
  [[nodiscard]] constexpr bool is_everyone() const noexcept { return members.dims.empty(); }
  [[nodiscard]] constexpr index_t count() const noexcept {
    return is_everyone() ? 1 : members.dims[0];
  }
  /// Returns the number of members of each group; 0 for the group of all devices.
  [[nodiscard]] constexpr index_t size() const noexcept {
    return is_everyone() ? 0 : members.dims[1];
  }
  /// Returns the device at a position of a group.
  [[nodiscard]] constexpr index_t member(index_t group, index_t position) const noexcept {
    return is_everyone() ? position : members.at(group * size() + position);
  }
};

/// Groups, or the reason why there are none.
struct groups_result {
  replica_groups groups{};
  parse_verdict verdict{};
};

/// Groups with the names of a mesh: devices that differ along some axes and parts of axes.
struct named_groups {
  named_mesh on{};
  axis_refs axes{};
};

/// Named groups, or the reason why there are none.
struct named_groups_result {
  named_groups groups{};
  parse_verdict verdict{};
};

/// True if both have the same groups in the same order, with the same order of members.
[[nodiscard]] constexpr bool same_groups(const replica_groups& a,
                                         const replica_groups& b) noexcept {
  if (!(a.members.dims == b.members.dims)) return false;
  for (index_t i = 0; !a.is_everyone() && i < a.members.count(); ++i)
    if (a.members.at(i) != b.members.at(i)) return false;
  return true;
}

/// Returns the groups with every device listed; fails if the buffer is too small.
[[nodiscard]] constexpr groups_result to_list(const replica_groups& groups,
                                              device_buffer& buffer) noexcept {
  if (groups.is_everyone()) return {groups, {}};
  const hlo_result list = to_list({.kind = hlo_kind::tiled, .tiles = groups.members}, buffer);
  return {{list.sharding.tiles}, list.verdict};
}

/// Returns the groups as an order of devices if they follow one, else unchanged.
[[nodiscard]] constexpr replica_groups to_iota(const replica_groups& groups) noexcept {
  return {to_iota(hlo_sharding{.kind = hlo_kind::tiled, .tiles = groups.members}).tiles};
}

/// Returns the groups of devices that differ along `axes`, the first of them major; groups are
/// numbered by the other axes, in mesh order. The result is an order, or, if the mesh has an
/// explicit order, a list, for which the buffer must have room.
///
///     // mesh(x=2, y=2), {x}: {{0,2},{1,3}}
[[nodiscard]] constexpr groups_result to_groups(const named_groups& named,
                                                device_buffer& buffer) noexcept {
  const auto refuse = [](text_view reason) { return groups_result{{}, {0, reason}}; };
  const named_mesh& on = named.on;
  if (on.maximal()) return refuse("groups are on a mesh, not on one device");
  if (const text_view reason = why_not(on.mesh, on.devices); !reason.empty()) return refuse(reason);
  detail::axis_uses uses(on.mesh);
  if (const text_view reason = uses.use_all(named.axes, false); !reason.empty())
    return refuse(reason);
  detail::tile_builder builder(on.mesh);
  builder.add(named.axes);
  const int split = builder.digits.ssize();
  builder.add_rest();
  if (builder.too_many) return refuse("a mesh is cut into at most 16 parts");
  tile_digits digits;
  for (int i = split; i < builder.digits.ssize(); ++i) digits.push_back(builder.digits[i]);
  for (int i = 0; i < split; ++i) digits.push_back(builder.digits[i]);
  groups_result result;
  tile_assignment& members = result.groups.members;
  members = {.dims = {builder.dims[1], builder.dims[0]}, .order = order_of(digits)};
  if (on.devices.empty()) return result;
  index_t* const list = buffer.take(members.count());
  if (list == nullptr) return refuse("the buffer has room for every device");
  for (index_t i = 0; i < members.count(); ++i) list[i] = on.devices[members.order.at(i)];
  members.list = {list, members.count()};
  members.order = {};
  return result;
}

/// Returns the groups of a collective over these axes of a mesh.
///
///     to_groups(pod::value, axis_list{1}, devices).groups.member(1, 2);          // 6
[[nodiscard]] constexpr groups_result to_groups(const mesh_desc& mesh, const axis_list& axes,
                                                device_buffer& buffer,
                                                device_view devices = {}) noexcept {
  named_groups named{to_named(mesh, devices), {}};
  for (std::uint8_t a : axes) named.axes.push_back({a});
  return to_groups(named, buffer);
}

}  // namespace shardwise
