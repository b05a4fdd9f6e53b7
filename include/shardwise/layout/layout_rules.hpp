// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/layout/layout_desc.hpp"

namespace shardwise {

/// Checks a layout that may not come from `resolve`: its axes are in the mesh, and each axis splits
/// one dimension, is pending, or is manual.
[[nodiscard]] constexpr diagnosis validate(const mesh_desc& mesh,
                                           const layout_desc& layout) noexcept {
  unsigned used = 0;
  for (int d = 0; d < layout.rank(); ++d) {
    for (std::uint8_t a : layout.dims[d]) {
      if (a >= mesh.rank()) return {.rule = violation::axis_is_not_in_mesh, .dim = d};
      if ((used >> a & 1U) != 0)
        return {.rule = violation::axis_is_used_twice, .dim = d, .axis = mesh.axes[a].label};
      used |= 1U << a;
    }
    const grain how = layout.grains[d];
    if (!how.is_contiguous() && how.over(layout.dims[d].ssize()).is_contiguous())
      return {.rule = violation::grain_is_malformed, .dim = d};
  }
  if ((unsigned{layout.pending} | layout.manual) >> mesh.rank() != 0)
    return {.rule = violation::axis_is_not_in_mesh};
  for (int a = 0; a < mesh.rank(); ++a) {
    const bool splits = (used >> a & 1U) != 0;
    if (layout.is_pending(a) && splits)
      return {.rule = violation::partial_axis_also_splits,
              .dim = layout.dim_of(static_cast<std::uint8_t>(a)),
              .axis = mesh.axes[a].label};
    if ((layout.manual >> a & 1) != 0 && (splits || layout.is_pending(a)))
      return {.rule = violation::manual_axis_is_used, .axis = mesh.axes[a].label};
  }
  return {};
}

/// The highest number of elements of a tensor, so that counts of them fit into an `index_t`.
inline constexpr index_t max_elements = index_t{1} << 56U;

/// Checks the extents of a tensor: none is negative, and there are at most `max_elements` elements.
/// Sizes that are `dyn` are not checked yet.
[[nodiscard]] constexpr diagnosis validate(const extents_desc& extents) noexcept {
  index_t elements = 1;
  for (int d = 0; d < extents.ssize(); ++d) {
    const index_t n = extents[d];
    if (n == dyn) continue;
    if (n < 0) return {.rule = violation::extent_is_negative, .dim = d, .have = n};
    if (n > max_elements / elements)
      return {.rule = violation::tensor_is_too_large,
              .dim = d,
              .have = n,
              .want = max_elements / elements + 1};
    if (n > 0) elements *= n;
  }
  return {};
}

/// Checks that a dimension of `parts` times its extent has at most `max_elements` elements. Sizes
/// that are `dyn` are not checked yet.
[[nodiscard]] constexpr diagnosis check_joined(int dim, index_t extent, index_t parts) noexcept {
  if (extent == dyn || parts == dyn || extent <= max_elements / parts) return {};
  return {.rule = violation::tensor_is_too_large,
          .dim = dim,
          .have = extent,
          .want = max_elements / parts + 1};
}

/// Checks a layout for a tensor: there is one entry per dimension, the extents are legal, and split
/// extents are divisible unless the layout is uneven. Sizes that are `dyn` are not checked yet.
[[nodiscard]] constexpr diagnosis validate(const mesh_desc& mesh, const layout_desc& layout,
                                           const extents_desc& extents) noexcept {
  if (layout.rank() != extents.ssize())
    return {
        .rule = violation::rank_differs_from_spec, .have = layout.rank(), .want = extents.ssize()};
  if (const diagnosis verdict = validate(extents); !verdict.ok()) return verdict;
  for (int d = 0; d < layout.rank(); ++d) {
    const index_t n = extents[d];
    if (n == dyn) continue;
    const index_t parts = mesh.parts(layout.dims[d]);
    if (layout.uneven || parts == dyn) continue;
    const index_t unit = parts == 1 ? 1 : layout.grains[d].unit(parts);
    if (n % unit != 0)
      return {.rule = layout.grains[d].is_cyclic() ? violation::blocks_do_not_divide_extent
                                                   : violation::extent_is_not_divisible,
              .dim = d,
              .axis = mesh.axes[layout.dims[d].back()].label,
              .have = n,
              .want = unit};
  }
  return {};
}

/// Checks a tensor that a program is about to make: also checks the layout itself, and that every
/// extent is known.
[[nodiscard]] constexpr diagnosis check_known(const mesh_desc& mesh, const layout_desc& layout,
                                              const extents_desc& extents) noexcept {
  if (const diagnosis verdict = validate(mesh, layout); !verdict.ok()) return verdict;
  for (int d = 0; d < extents.ssize(); ++d)
    if (extents[d] < 0)
      return {.rule = violation::extent_is_negative, .dim = d, .have = extents[d]};
  return validate(mesh, layout, extents);
}

namespace internal {
/// Returns the lowest axis of a set of bits.
[[nodiscard]] constexpr short_name first_axis(const mesh_desc& mesh, unsigned bits) noexcept {
  for (int a = 0; a < mesh.rank(); ++a)
    if ((bits >> a & 1U) != 0) return mesh.axes[a].label;
  return {};
}
}  // namespace internal

/// Checks a reshard between two layouts on a mesh: it must not start a pending reduction over
/// several devices and must not change manual axes.
[[nodiscard]] constexpr diagnosis check_reshard(const mesh_desc& mesh, const layout_desc& from,
                                                const layout_desc& to) noexcept {
  const unsigned created = internal::axes_of_several(mesh, created_pending(from, to));
  if (created != 0)
    return {.rule = violation::reshard_would_create_partial,
            .axis = internal::first_axis(mesh, created)};
  if (const unsigned left = from.manual ^ to.manual; left != 0)
    return {.rule = violation::manual_axis_is_left, .axis = internal::first_axis(mesh, left)};
  return {};
}

/// Returns the layout of a spec on a mesh. Use this when the spec is known only at run time.
///
/// Throws `error` if `resolve` rejects the spec.
///
///     const layout_desc rows = layout_of(mesh, {{"data", ""}});
///     const layout_desc ragged = layout_of(mesh, {{"data", ""}}, {}, uneven{});
///     const layout_desc tiles = layout_of(mesh, {{"x,y", ""}}, {}, single_cut{});
[[nodiscard]] constexpr layout_desc layout_of(const mesh_desc& mesh, const spec_desc& spec,
                                              const partial_desc& partial = {},
                                              policy_desc policy = exact{}) {
  const resolved_layout resolved = resolve(mesh, spec, partial, policy);
  require(resolved.verdict);
  return resolved.layout;
}

namespace internal {
/// Returns the layout of a reshard of a tensor with layout `from` to a spec: nothing is pending,
/// and manual axes stay manual.
[[nodiscard]] constexpr layout_desc layout_with_spec(const mesh_desc& mesh, const layout_desc& from,
                                                     const spec_desc& spec, policy_desc policy) {
  layout_desc to = layout_of(mesh, spec, {}, policy);
  to.manual = from.manual;
  return to;
}
/// Resolves a spec with the policy of `from`.
[[nodiscard]] constexpr layout_desc layout_with_spec(const mesh_desc& mesh, const layout_desc& from,
                                                     const spec_desc& spec) {
  return layout_with_spec(mesh, from, spec, policy_desc(from.uneven));
}

/// Checks that two tensors have the same extents, so that neither is broadcast; dyn ones match any
/// size.
[[nodiscard]] constexpr diagnosis check_same_extents(const extents_desc& first,
                                                     const extents_desc& second) noexcept {
  if (first.ssize() != second.ssize())
    return {.rule = violation::operand_rank_differs,
            .operand = 1,
            .have = second.ssize(),
            .want = first.ssize()};
  for (int d = 0; d < first.ssize(); ++d)
    if (first[d] != dyn && second[d] != dyn && first[d] != second[d])
      return {.rule = violation::operand_sizes_differ,
              .operand = 1,
              .dim = d,
              .have = second[d],
              .want = first[d]};
  return {};
}

/// Checks that a tensor is on the mesh of a type, where dyn sizes match any size.
constexpr void require_mesh_of_type(const mesh_desc& mesh, const mesh_desc& wanted) {
  if (check_pool(mesh, wanted).ok()) return;
  message_text both;
  both << "the tensor is on " << mesh << ", its type on " << wanted;
  fail({.rule = violation::operand_meshes_differ}, both);
}
}  // namespace internal

}  // namespace shardwise
