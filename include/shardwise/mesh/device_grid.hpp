// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/list_view.hpp"
#include "shardwise/mesh/topology_verdict.hpp"

namespace shardwise {

/// What a machine reports about one device: its number, the coordinates of its chip, its core on
/// that chip, and its slice (-1 if the machine has no slices).
struct device_attributes {
  index_t id = 0;
  std::int32_t coords[3]{};
  std::int32_t core_on_chip = 0;
  index_t slice_index = -1;

  /// Returns true if the device belongs to this slice; -1 means a machine without slices.
  [[nodiscard]] constexpr bool is_in(index_t slice) const noexcept {
    return slice < 0 ? slice_index < 0 : slice_index == slice;
  }

  friend constexpr bool operator==(const device_attributes&, const device_attributes&) = default;
};

/// The devices of a machine, in any order.
using device_list = list_view<const device_attributes>;

/// The bounding box of the devices of one slice: x, y, z, and the cores of a chip where a device is
/// a core. It need not begin at the origin.
struct device_grid {
  physical_shape shape{};
  index_t low[max_physical_axes]{};
  index_t devices = 0;

  /// Returns the coordinates of a device relative to the corner of the grid.
  [[nodiscard]] constexpr index_t at(const device_attributes& device, int axis) const noexcept {
    return (axis < 3 ? device.coords[axis] : device.core_on_chip) - low[axis];
  }
};

/// A grid, or the reason why there is none.
struct grid_answer {
  topology_verdict verdict{};
  device_grid grid{};
};

namespace detail {

/// True if each core of a chip is a device, in which case cores are a fourth axis.
[[nodiscard]] constexpr bool cores_are_an_axis(device_kind kind, index_t cores) noexcept {
  switch (kind) {
    case device_kind::tpu_v2:
    case device_kind::tpu_v3:
    case device_kind::tpu_v7x:
    case device_kind::tpu_v8i:
      return true;
    case device_kind::any:
    case device_kind::tpu_v5p:
      return cores > 1;
    default:
      return false;
  }
}

/// Memory for a list of positions while the devices at each are counted.
inline constexpr index_t empty_place = -1;

}  // namespace detail

/// Returns the bounding box of the devices of one slice, as a grid.
///
/// Checks that the number of devices fits the box, but not that each position has exactly one.
[[nodiscard]] constexpr grid_answer bounds_of(device_list devices, index_t slice,
                                              device_kind kind) noexcept {
  grid_answer answer;
  index_t low[max_physical_axes]{};
  index_t high[max_physical_axes]{};
  index_t count = 0;
  const device_attributes* other_core = nullptr;
  for (const device_attributes& device : devices) {
    if (!device.is_in(slice)) continue;
    for (int a = 0; a < max_physical_axes; ++a) {
      const index_t place = a < 3 ? device.coords[a] : device.core_on_chip;
      if (count == 0 || place < low[a]) low[a] = place;
      if (count == 0 || place > high[a]) high[a] = place;
    }
    if (device.core_on_chip != 0 && other_core == nullptr) other_core = &device;
    ++count;
  }
  const index_t cores = high[3] - low[3] + 1;
  const int rank = detail::cores_are_an_axis(kind, cores) ? 4 : 3;
  for (int a = 0; a < rank; ++a) {
    answer.grid.shape.push_back(high[a] - low[a] + 1);
    answer.grid.low[a] = low[a];
  }
  answer.grid.devices = count;
  const bool one_each = rank == 4 || kind == device_kind::any || other_core == nullptr;
  const index_t places = bounded_product(answer.grid.shape, index_t{1} << 62);
  if (!one_each)
    answer.verdict = {.rule = topology_rule::chip_has_several_devices, .have = other_core->id};
  else if (places != count)
    answer.verdict = {.rule = topology_rule::devices_are_not_a_cuboid,
                      .have = count,
                      .want = places,
                      .physical = answer.grid.shape};
  return answer;
}

/// Returns the grid of the devices of one slice. Checks that each position has exactly one device.
///
/// `places` receives, for each position of the grid in row-major order, the index of its device in
/// the list.
///
///     constexpr device_attributes two[] = {{0, {5, 1, 0}}, {1, {4, 1, 0}}};
///     index_t places[2];
///     grid_of(two, places);                                 // 2x1x1, places = 1, 0
[[nodiscard]] constexpr grid_answer grid_of(device_list devices, list_view<index_t> places,
                                            index_t slice = -1,
                                            device_kind kind = device_kind::any) noexcept {
  grid_answer answer = bounds_of(devices, slice, kind);
  const device_grid& grid = answer.grid;
  if (!answer.verdict.ok()) return answer;
  if (places.ssize() < grid.devices) {
    answer.verdict = {
        .rule = topology_rule::order_does_not_fit, .have = places.ssize(), .want = grid.devices};
    return answer;
  }
  for (index_t i = 0; i < grid.devices; ++i) places[i] = detail::empty_place;
  for (index_t i = 0; i < devices.ssize(); ++i) {
    if (!devices[i].is_in(slice)) continue;
    index_t place = 0;
    for (int a = 0; a < grid.shape.ssize(); ++a)
      place = place * grid.shape[a] + grid.at(devices[i], a);
    if (places[place] != detail::empty_place) {
      answer.verdict = {.rule = topology_rule::devices_are_not_a_cuboid,
                        .have = grid.devices,
                        .want = grid.devices,
                        .physical = grid.shape};
      return answer;
    }
    places[place] = i;
  }
  return answer;
}

/// Describes the devices of a machine with equal slices, without querying a machine.
///
/// `ordinals` are the numbers of the devices, row-major over the positions of each slice in turn.
/// If empty, devices are numbered as machines do: cores vary fastest, then x, y, z, then slices.
/// With a single slice no device has a slice index. Returns the number of devices described: all of
/// them, or 0 if a size is not positive or the length of `out` or `ordinals` does not match.
[[nodiscard]] constexpr index_t describe_devices(const physical_shape& physical, index_t slices,
                                                 list_view<const index_t> ordinals,
                                                 list_view<device_attributes> out) noexcept {
  const index_t each = bounded_product(physical, out.ssize());
  if (each < 1 || slices < 1 || out.ssize() % each != 0 || out.ssize() / each != slices) return 0;
  if (!ordinals.empty() && ordinals.size() != out.size()) return 0;
  for (index_t i = 0; i < out.ssize(); ++i) {
    device_attributes device{.id = 0, .slice_index = slices > 1 ? i / each : -1};
    index_t rest = i % each;
    for (int a = physical.ssize() - 1; a >= 0; --a) {
      const auto place = static_cast<std::int32_t>(rest % physical[a]);
      (a < 3 ? device.coords[a] : device.core_on_chip) = place;
      rest /= physical[a];
    }
    index_t counted = 0;
    for (int a = (physical.ssize() < 3 ? physical.ssize() : 3) - 1; a >= 0; --a)
      counted = counted * physical[a] + device.coords[a];
    if (physical.ssize() > 3) counted = counted * physical[3] + device.core_on_chip;
    device.id = ordinals.empty() ? i / each * each + counted : ordinals[i];
    out[i] = device;
  }
  return out.ssize();
}

}  // namespace shardwise
