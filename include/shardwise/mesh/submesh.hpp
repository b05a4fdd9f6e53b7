// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/group.hpp"
#include "shardwise/mesh/mesh.hpp"

namespace shardwise {

/// A mesh that was made from another one, or why there is none.
struct derived_mesh {
  mesh_desc mesh{};
  diagnosis verdict{};
};

/// The mesh of some axes of a mesh, in the order in which they are named; its devices are numbered
/// from 0. Checks: they are axes of the mesh, and no two the same.
///
///     submesh_of(mesh(data=2, model=4), {"model"})            // mesh(model=4)
[[nodiscard]] constexpr derived_mesh submesh_of(
    const mesh_desc& mesh, const inplace_vector<text_view, max_axes>& labels) noexcept {
  derived_mesh result;
  for (const text_view label : labels) {
    const int axis = mesh.find(label);
    if (axis < 0 || result.mesh.find(label) >= 0) {
      result.verdict = {.rule = violation::submesh_axis_is_not_in_mesh, .axis = short_name(label)};
      return result;
    }
    result.mesh.axes.push_back(mesh.axes[axis]);
  }
  return result;
}

/// The groups of devices that are a sub-mesh each: the group of `device` is
/// `member(group_of(device), 0)`, `member(group_of(device), 1)`, ... The labels are axes of `mesh`.
///
///     // mesh(data=2, model=4), {"model"}: 0 1 2 3 and 4 5 6 7
[[nodiscard]] constexpr device_groups submesh_groups(
    const mesh_desc& mesh, const inplace_vector<text_view, max_axes>& labels) noexcept {
  axis_list axes;
  for (const text_view label : labels) axes.push_back(static_cast<std::uint8_t>(mesh.find(label)));
  return {mesh, axes};
}

/// All axes of a mesh as one, the first one major, with their names joined by `_` or one of your
/// own; the devices keep their positions, and their order.
///
///     flatten(mesh(data=2, model=4))                       // mesh(data_model=8)
///     flatten(mesh(data=2, model=4), "all")                // mesh(all=8)
[[nodiscard]] constexpr derived_mesh flatten(const mesh_desc& mesh, text_view label = {}) noexcept {
  bounded_text<max_axes*(short_name::capacity + 1)> joined(label);
  if (label.empty())
    for (int a = 0; a < mesh.rank(); ++a) {
      if (a > 0) joined << '_';
      joined << mesh.axes[a].label;
    }
  derived_mesh result;
  if (!is_axis_name(joined))
    result.verdict = {.rule = violation::axis_name_is_malformed, .axis = short_name(joined)};
  else
    result.mesh = {{axis_desc{short_name(joined), mesh.devices()}}, mesh.order};
  return result;
}

namespace detail {

/// Checks the axes of a sub-mesh.
template <class Mesh, fixed_string... Labels>
[[nodiscard]] constexpr auto judge_submesh() noexcept {
  return answer_to<Mesh>([] { return submesh_of(Mesh::value, {text_view(Labels)...}).verdict; });
}

/// The size of an axis that the judge above has found in its mesh.
template <class Mesh, fixed_string Label>
[[nodiscard]] constexpr index_t size_along() noexcept {
  constexpr int axis = Mesh::value.find(Label);
  return axis < 0 ? 1 : Mesh::value.size(axis < 0 ? 0 : axis);
}

template <class Mesh, fixed_string... Labels>
struct submesh_type {
  static_assert(sizeof(typename decltype(judge_submesh<Mesh, Labels...>())::type) > 0);
  using type = mesh<axis<Labels, size_along<Mesh, Labels>()>...>;
};

template <class Mesh, fixed_string Label>
struct flattened_type {
  static constexpr derived_mesh made = flatten(Mesh::value, Label);
  static constexpr short_name label = made.mesh.axes[0].label;
  using type = mesh<axis<to_fixed_string<label.size()>(label), Mesh::devices>>;
};

}  // namespace detail

/// The mesh type of some axes of a mesh; see `submesh_of`.
///
///     static_assert(std::is_same_v<submesh<pod, "model">, mesh<axis<"model", 4>>>);
template <class Mesh, fixed_string... Labels>
using submesh = typename detail::submesh_type<Mesh, Labels...>::type;

/// The mesh type of all axes of a mesh as one; see `flatten`. An order of devices is not kept: give
/// it to `ordered_mesh` again.
///
///     static_assert(flattened<pod>::value.find("data_model") == 0 && flattened<pod>::devices ==
///     8); struct ranks : flattened<submesh<pod, "model", "data">, "rank"> {};
template <class Mesh, fixed_string Label = "">
using flattened = typename detail::flattened_type<Mesh, Label>::type;

/// The mesh type of one axis; `mesh_1d<"data">{pool.devices()}` has all devices of a pool.
template <fixed_string Label, index_t Size = dyn>
using mesh_1d = mesh<axis<Label, Size>>;

}  // namespace shardwise
