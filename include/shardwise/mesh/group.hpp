// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/mesh_desc.hpp"

namespace shardwise {

/// Returns the position of the device at `where` along some axes, the first one major.
[[nodiscard]] constexpr index_t position_along(const mesh_desc& mesh, const axis_list& axes,
                                               const coordinates& where) noexcept {
  index_t position = 0;
  for (std::uint8_t a : axes) position = position * mesh.size(a) + where[a];
  return position;
}

/// The partition of a mesh into the groups of one collective: devices that differ only along some
/// axes.
///
/// A group's members are ordered by their position along the axes, the first axis major.
///
///     constexpr device_groups g(pod::value, {1});          // groups along "model" of mesh(2, 4)
///     static_assert(g.count() == 2 && g.size() == 4 && g.member(1, 2) == 6);
class device_groups {
 public:
  constexpr device_groups(const mesh_desc& mesh, const axis_list& axes) noexcept
      : mesh_(mesh), axes_(axes) {
    for (int a = 0; a < mesh.rank(); ++a)
      if (!axes.contains(static_cast<std::uint8_t>(a)))
        others_.push_back(static_cast<std::uint8_t>(a));
  }

  /// The number of groups, and the number of members of each; their product is `devices()`.
  [[nodiscard]] constexpr index_t count() const noexcept { return mesh_.parts(others_); }
  [[nodiscard]] constexpr index_t size() const noexcept { return mesh_.parts(axes_); }

  /// Return the group of a device, and its position in that group.
  [[nodiscard]] constexpr index_t group_of(index_t device) const noexcept {
    return number_of(others_, device);
  }
  [[nodiscard]] constexpr index_t position_of(index_t device) const noexcept {
    return number_of(axes_, device);
  }

  /// Returns the device at a position of a group.
  [[nodiscard]] constexpr index_t member(index_t group, index_t position) const noexcept {
    coordinates where;
    where.resize(mesh_.axes.size());
    locate(others_, group, where);
    locate(axes_, position, where);
    return mesh_.device(where);
  }

 private:
  [[nodiscard]] constexpr index_t number_of(const axis_list& axes, index_t device) const noexcept {
    return position_along(mesh_, axes, mesh_.at(device));
  }
  constexpr void locate(const axis_list& axes, index_t number, coordinates& where) const noexcept {
    for (int i = axes.ssize() - 1; i >= 0; --i) {
      where[axes[i]] = number % mesh_.size(axes[i]);
      number /= mesh_.size(axes[i]);
    }
  }

  mesh_desc mesh_;
  axis_list axes_;
  axis_list others_{};
};

}  // namespace shardwise
