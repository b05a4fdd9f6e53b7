// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/diagnosis.hpp"
#include "shardwise/mesh/list_view.hpp"

namespace shardwise {

/// Device numbers in an order that is stored elsewhere.
using device_numbers = list_view<const index_t>;

/// Which device is at each position of a mesh, and the inverse, so that neither needs a search. The
/// default, an empty order, stands for 0, 1, 2, ...
///
/// Both lists are borrowed and must outlive the order; those of `ordered_mesh` are static arrays.
///
///     constexpr index_t ring[] = {0, 1, 3, 2};
///     constexpr index_t back[] = {0, 1, 3, 2};
///     static_assert(device_order(ring, back).at(2) == 3);
class device_order {
 public:
  constexpr device_order() = default;
  /// `devices[position]` and `positions[device]`; see `invert`.
  constexpr device_order(device_numbers devices, device_numbers positions) noexcept
      : devices_(devices), positions_(positions) {}

  /// Returns true if the order is 0, 1, 2, ... without a list.
  [[nodiscard]] constexpr bool empty() const noexcept { return devices_.empty(); }
  /// Returns the devices by position; empty for 0, 1, 2, ...
  [[nodiscard]] constexpr device_numbers devices() const noexcept { return devices_; }
  [[nodiscard]] constexpr device_numbers positions() const noexcept { return positions_; }

  /// Return the device at a position and the position of a device.
  [[nodiscard]] constexpr index_t at(index_t position) const noexcept {
    return devices_.empty() ? position : devices_[position];
  }
  [[nodiscard]] constexpr index_t find(index_t device) const noexcept {
    return positions_.empty() ? device : positions_[device];
  }

  /// Returns true if both have the same device at every position, with or without a list.
  friend constexpr bool operator==(const device_order& a, const device_order& b) noexcept {
    if (a.empty() && b.empty()) return true;
    const index_t count = a.empty() ? b.devices_.ssize() : a.devices_.ssize();
    if (!a.empty() && !b.empty() && b.devices_.ssize() != count) return false;
    for (index_t i = 0; i < count; ++i)
      if (a.at(i) != b.at(i)) return false;
    return true;
  }

 private:
  device_numbers devices_{};
  device_numbers positions_{};
};

/// Writes the inverse of an order, `positions[devices[i]] = i`. Checks that the devices are a
/// permutation of 0 to n - 1; `positions` must have the same length.
[[nodiscard]] constexpr diagnosis invert(device_numbers devices,
                                         list_view<index_t> positions) noexcept {
  const index_t count = devices.ssize();
  for (index_t& position : positions) position = -1;
  for (index_t i = 0; i < count; ++i) {
    const index_t device = devices[i];
    if (device < 0 || device >= count)
      return {.rule = violation::device_is_out_of_range, .have = device, .want = count};
    if (positions[device] >= 0) return {.rule = violation::device_is_repeated, .have = device};
    positions[device] = i;
  }
  return {};
}

/// Also checks that the order lists every device of the mesh.
[[nodiscard]] constexpr diagnosis invert(device_numbers devices, index_t size,
                                         list_view<index_t> positions) noexcept {
  if (devices.ssize() != size)
    return {.rule = violation::device_count_differs, .have = devices.ssize(), .want = size};
  return invert(devices, positions);
}

}  // namespace shardwise
