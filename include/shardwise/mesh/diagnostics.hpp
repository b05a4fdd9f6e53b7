// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/respected.hpp"

namespace shardwise {

/// `Axis` names two axes of `Mesh`.
template <fixed_string Axis, class Mesh>
struct axis_is_repeated_in_mesh {
  static_assert(respected<axis_is_repeated_in_mesh>, "the axes of a mesh have different names");
};

/// `Axis` is not a name.
template <fixed_string Axis, class Mesh>
struct axis_name_is_malformed {
  static_assert(respected<axis_name_is_malformed>,
                "an axis name is a letter or _ and up to 22 more letters, digits or _");
};

/// `Axis` has `Size` devices.
template <fixed_string Axis, index_t Size, class Mesh>
struct axis_size_is_not_positive {
  static_assert(respected<axis_size_is_not_positive>, "an axis of a mesh has at least one device");
};

/// A mesh has `Count` axes; the line after this one says which mesh.
template <int Count>
struct mesh_has_too_many_axes {
  static_assert(respected<mesh_has_too_many_axes>, "a mesh has at most 7 axes");
};

/// With `Axis`, of size `Size`, a mesh has more devices than can be counted.
template <fixed_string Axis, index_t Size, class Mesh>
struct mesh_has_too_many_devices {
  static_assert(respected<mesh_has_too_many_devices>, "a mesh has at most 2^30 devices");
};

}  // namespace shardwise
