// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/group.hpp"
#include "shardwise/mesh/mesh.hpp"

namespace shardwise {

/// A mesh made from another one, or the reason why there is none.
struct derived_mesh {
  mesh_desc mesh{};
  diagnosis verdict{};
};

/// Returns the mesh of some axes of a mesh, in the given order; its devices are numbered from 0.
/// Checks that the axes belong to the mesh and are distinct.
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

/// Returns the groups of devices that form one sub-mesh each. The members of the sub-mesh of
/// `device` are `member(group_of(device), 0)`, `member(group_of(device), 1)`, ... The labels must
/// be axes of `mesh`.
///
///     // mesh(data=2, model=4), {"model"}: 0 1 2 3 and 4 5 6 7
[[nodiscard]] constexpr device_groups submesh_groups(
    const mesh_desc& mesh, const inplace_vector<text_view, max_axes>& labels) noexcept {
  axis_list axes;
  for (const text_view label : labels) axes.push_back(static_cast<std::uint8_t>(mesh.find(label)));
  return {mesh, axes};
}

/// Returns the mesh with all axes merged into one, the first axis major. Its name is the names
/// joined by `_`, or the given one. Devices keep their positions and their explicit order.
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

/// The size of an axis that has been checked to belong to its mesh.
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

/// The mesh type with all axes of a mesh merged into one; see `flatten`. An explicit order of
/// devices is not kept; apply `ordered_mesh` to the result.
///
///     static_assert(flattened<pod>::value.find("data_model") == 0 && flattened<pod>::devices ==
///     8); struct ranks : flattened<submesh<pod, "model", "data">, "rank"> {};
template <class Mesh, fixed_string Label = "">
using flattened = typename detail::flattened_type<Mesh, Label>::type;

/// The mesh type of one axis; `mesh_1d<"data">{pool.devices()}` has all devices of a pool.
template <fixed_string Label, index_t Size = dyn>
using mesh_1d = mesh<axis<Label, Size>>;

}  // namespace shardwise
