// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/list_view.hpp"
#include "shardwise/notation/named_sharding.hpp"

namespace shardwise {

/// A mesh with its devices, or the reason why there is none.
struct named_mesh_result {
  named_mesh mesh{};
  parse_verdict verdict{};
};

/// Returns the mesh given by separate lists, as in PyTorch/XLA's `Mesh(device_ids, mesh_shape,
/// axis_names)`: devices row-major, and one size and one name for each axis. Without names the axes
/// are `axis_0`, `axis_1`, ...; without devices they are 0, 1, 2, ...
///
/// Checks, with the number of the axis as position, that there are as many names as sizes, that
/// names are legal and distinct, that sizes are at least 1, and that the devices are a permutation
/// of 0 to size - 1.
///
///     constexpr index_t ids[] = {3, 1, 2, 0};
///     constexpr text_view names[] = {"x", "y"};
///     static_assert(to_named_mesh({ids, 4}, {2, 2}, names).mesh.devices[0] == 3);
[[nodiscard]] constexpr named_mesh_result to_named_mesh(
    device_view devices, const extents_desc& sizes,
    list_view<const text_view> names = {}) noexcept {
  const auto refuse = [](int axis, text_view reason) {
    return named_mesh_result{{}, {static_cast<std::size_t>(axis), reason}};
  };
  named_mesh_result result;
  mesh_desc& mesh = result.mesh.mesh;
  if (sizes.ssize() > max_axes) return refuse(max_axes, "a mesh has at most 7 axes");
  if (!names.empty() && names.ssize() != sizes.ssize())
    return refuse(0, "a mesh has one name for each axis");
  for (int a = 0; a < sizes.ssize(); ++a) {
    bounded_text<12> numbered;
    numbered << "axis_" << a;
    const text_view label = names.empty() ? text_view(numbered) : names[a];
    if (!is_axis_name(label))
      return refuse(a, "a name is a letter or _ and up to 22 more letters, digits or _");
    if (mesh.find(label) >= 0) return refuse(a, "the axes of a mesh have different names");
    if (sizes[a] < 1) return refuse(a, "a size is at least 1");
    mesh.axes.push_back({short_name(label), sizes[a]});
  }
  if (const text_view reason = why_not(mesh, devices); !reason.empty()) return refuse(0, reason);
  if (!is_plain(devices)) result.mesh.devices = devices;
  return result;
}

}  // namespace shardwise
