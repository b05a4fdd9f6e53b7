// SPDX-License-Identifier: BSL-1.0
// The layout that a picture shows, on a mesh that the request has or its tiles follow.
#pragma once

#include "read_subject.hpp"
#include <shardwise/notation/tile_digits.hpp>

namespace tool {

namespace detail {

/// A layout on a mesh: what a picture shows.
struct drawable {
  mesh_desc mesh{};
  layout_desc layout{};
};

/// A mesh whose axes d0, d1, ... are the digits of the order that the devices of tiles follow, and
/// the layout that makes these tiles on it.
[[nodiscard]] inline outcome<drawable> drawable_of_tiles(const hlo_sharding& given,
                                                         const std::optional<extents_desc>& shape,
                                                         device_buffer& buffer) {
  const hlo_sharding sharding = to_iota(given);
  if (sharding.kind != hlo_kind::tiled || sharding.tiles.is_list())
    return refusal("sharding_has_no_mesh",
                   "a picture needs a mesh, and the devices of this sharding "
                   "follow the order of none; give --mesh");
  tile_digits digits = cut_digits(digits_of(sharding.tiles.order), sharding.tiles.dims);
  sort_by_stride(digits, 0, digits.ssize());
  if (digits.empty() || digits.ssize() > max_axes)
    return refusal("sharding_has_no_mesh", "no mesh of at most 7 axes makes these tiles");
  drawable found;
  for (int a = 0; a < digits.ssize(); ++a)
    found.mesh.axes.push_back({short_name("d" + std::to_string(a)), digits[a].size});
  const read_layout read = to_layout(sharding, found.mesh, sharding.rank(), buffer);
  if (!read.verdict.ok()) return refusal("sharding_has_no_mesh", str(read.verdict.reason));
  found.layout = judged(found.mesh, read.layout, shape, single_cut{});
  return found;
}

/// The mesh of a request with its order of devices, both lists of which somebody else keeps.
[[nodiscard]] inline mesh_desc ordered_mesh_of(const subject& about,
                                               const std::vector<index_t>& places) {
  mesh_desc mesh = *about.mesh;
  mesh.order = device_order(about.devices, places);
  return mesh;
}

[[nodiscard]] inline outcome<drawable> drawable_of(const subject& about,
                                                   const std::vector<index_t>& places,
                                                   device_buffer& buffer) {
  if (about.mesh && about.layout)
    return drawable{
        ordered_mesh_of(about, places),
        about.shape ? said_by_axis(*about.mesh, *about.layout, *about.shape) : *about.layout};
  if (!about.hlo) return refusal("sharding_has_no_mesh", "a picture needs a mesh of whole axes");
  return drawable_of_tiles(*about.hlo, about.shape, buffer);
}

}  // namespace detail

}  // namespace tool
