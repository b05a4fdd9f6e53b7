// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/device_grid.hpp"

namespace shardwise {

/// The special order of devices that some small machines use instead of an assignment of axes: a
/// ring of neighbours, so that a collective over all devices uses only short links.
///
/// Devices are first numbered; then every run of `pattern.size()` consecutive devices is permuted
/// by the pattern. Without a pattern there is no ring.
struct device_ring {
  /// How devices are numbered.
  enum class count : unsigned char { as_listed, x_first, cores_first };

  count counted = count::as_listed;
  inplace_vector<std::uint8_t, 16> pattern{};

  [[nodiscard]] constexpr bool exists() const noexcept { return !pattern.empty(); }

  /// Returns the position in the ring of the device with this number.
  [[nodiscard]] constexpr index_t position(index_t number) const noexcept {
    const auto length = static_cast<index_t>(pattern.size());
    return number / length * length + pattern.find(static_cast<std::uint8_t>(number % length));
  }

  /// Returns the number of a device of a grid, of which `listed` come earlier in the list.
  [[nodiscard]] constexpr index_t number_of(const device_grid& grid,
                                            const device_attributes& device,
                                            index_t listed) const noexcept {
    if (counted == count::as_listed) return listed;
    index_t number = 0;
    for (int a = 2; a >= 0; --a) number = number * grid.shape[a] + grid.at(device, a);
    if (counted == count::cores_first && grid.shape.ssize() > 3)
      number = number * grid.shape[3] + grid.at(device, 3);
    return number;
  }

  friend constexpr bool operator==(const device_ring&, const device_ring&) = default;
};

/// Returns the ring of a kind of machine of this shape for a logical mesh, if it has one.
///
/// - v2, v3: trays of 8 cores; unless the machine or the last axis is one tray, in list order.
/// - v4i, v8i: four devices.
/// - v5e, v6e: 2x2, eight devices, and 4x4 as one axis. v5p: 2x2x2.
/// - v7x: up to four trays of 2x2 chips with two cores each.
[[nodiscard]] constexpr device_ring ring_of(device_kind kind, const device_grid& grid,
                                            const mesh_shape& logical) noexcept {
  using count = device_ring::count;
  constexpr inplace_vector<std::uint8_t, 16> tray{0, 1, 2, 3, 6, 7, 4, 5};
  constexpr inplace_vector<std::uint8_t, 16> square{0, 1, 3, 2};
  const auto is = [&](index_t x, index_t y, index_t z) {
    return grid.shape[0] == x && grid.shape[1] == y && grid.shape[2] == z;
  };
  const index_t n = grid.devices;
  switch (kind) {
    case device_kind::tpu_v2:
    case device_kind::tpu_v3:
      if (n == 8 || (!logical.empty() && logical.back() == 8)) return {count::as_listed, tray};
      return {count::as_listed, {0}};
    case device_kind::tpu_v4i:
    case device_kind::tpu_v8i:
      if (n == 4) return {count::as_listed, square};
      return {};
    case device_kind::tpu_v5e:
    case device_kind::tpu_v6e:
      if (is(2, 2, 1) && n == 4) return {count::x_first, square};
      if (is(2, 2, 2) && n == 8) return {count::x_first, {0, 4, 2, 6, 1, 5, 3, 7}};
      if (n == 8) return {count::x_first, {0, 1, 2, 3, 7, 6, 5, 4}};
      if (is(4, 4, 1) && n == 16)
        for (index_t size : logical)
          if (size == n)
            return {count::x_first, {0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4}};
      return {};
    case device_kind::tpu_v5p:
      if (is(2, 2, 2) && n == 8) return {count::x_first, {0, 1, 3, 2, 6, 7, 5, 4}};
      return {};
    case device_kind::tpu_v7x:
      if (n % 8 == 0 && n <= 32 && grid.shape[0] <= 2 && grid.shape[1] <= 2)
        return {count::cores_first, tray};
      return {};
    default:
      return {};
  }
}

/// Checks whether a machine has submeshes that are contiguous on each host. The result is the order
/// of its axes for that, empty if it is the order of the machine. Axes of size 1 of the mesh are
/// ignored.
struct contiguous_answer {
  topology_verdict verdict{};
  physical_axes order{};
};

[[nodiscard]] constexpr contiguous_answer contiguous_order(const physical_shape& machine,
                                                           const mesh_shape& logical) noexcept {
  struct known {
    physical_shape machine;
    mesh_shape meshes[2];
    physical_axes order;
  };
  constexpr known table[] = {
      {{2, 2, 1}, {{2, 2}, {}}, {0, 1, 2}},  {{2, 2, 4}, {{4, 4}, {}}, {0, 1, 2}},
      {{4, 4, 4}, {{16, 4}, {}}, {0, 2, 1}}, {{4, 8, 8}, {{64, 4}, {4, 64}}, {0, 2, 1}},
      {{8, 8, 8}, {{64, 8}, {}}, {0, 2, 1}}, {{8, 16, 16}, {{256, 8}, {8, 256}}, {0, 2, 1}},
  };
  mesh_shape wide;
  for (index_t size : logical)
    if (size != 1) wide.push_back(size);
  for (const known& entry : table) {
    if (!(entry.machine == machine)) continue;
    for (const mesh_shape& mesh : entry.meshes)
      if (!mesh.empty() && mesh == wide) return {{}, entry.order};
    return {{.rule = topology_rule::shape_has_no_contiguous_submeshes,
             .shape = logical,
             .physical = machine,
             .alternatives = {entry.meshes[0], entry.meshes[1]}},
            {}};
  }
  return {{.rule = topology_rule::machine_has_no_contiguous_submeshes,
           .shape = logical,
           .physical = machine},
          {}};
}

}  // namespace shardwise
