// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/diagnostics.hpp"
#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/mesh/mesh.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {

/// Resolves the parts of a layout type; any others than a layout has are no layout. By overloads,
/// which cost legal layouts nothing.
[[nodiscard]] constexpr resolved_layout resolve_parts(const mesh_desc& mesh, const spec_desc& spec,
                                                      const partial_desc& partial,
                                                      const bool& uneven) noexcept {
  return resolve(mesh, spec, partial, policy_desc(uneven));
}
template <class Mesh, class Spec, class Partial, class Policy>
[[nodiscard]] constexpr resolved_layout resolve_parts(const Mesh&, const Spec&, const Partial&,
                                                      const Policy&) noexcept {
  return {{}, {.rule = broken::layout_is_malformed}};
}

/// The rule that a layout breaks of whose parts one is of another kind.
template <class Mesh, class Spec, class Partial, class Policy>
[[nodiscard]] constexpr auto refuse_part() noexcept {
  if constexpr (!std::is_same_v<decltype(Mesh::value), const mesh_desc>)
    return refused<layout_is_malformed<0, Mesh>>{};
  else if constexpr (!std::is_same_v<decltype(Spec::value), const spec_desc>)
    return refused<layout_is_malformed<1, Spec>>{};
  else if constexpr (!std::is_same_v<decltype(Partial::value), const partial_desc>)
    return refused<layout_is_malformed<2, Partial>>{};
  else
    return refused<layout_is_malformed<3, Policy>>{};
}

/// True for a mesh that is refused itself.
template <class Mesh>
concept RefusedMesh = requires {
  requires !Mesh::is_legal;
};

/// The rule that a layout type breaks.
template <class Mesh, class Spec, class Partial, class Policy>
[[nodiscard]] constexpr auto refuse_layout() noexcept {
  constexpr diagnosis verdict =
      resolve_parts(Mesh::value, Spec::value, Partial::value, Policy::value).verdict;
  constexpr auto axis = to_fixed_string<verdict.axis.size()>(verdict.axis);
  if constexpr (RefusedMesh<Mesh>)
    return refused_before{};
  else if constexpr (verdict.rule == broken::layout_is_malformed)
    return refuse_part<Mesh, Spec, Partial, Policy>();
  else if constexpr (verdict.rule == broken::axis_is_not_in_mesh)
    return refused<axis_is_not_in_mesh<axis, dimension<verdict.dim>, Mesh>>{};
  else if constexpr (verdict.rule == broken::axis_is_used_twice)
    return refused<axis_is_used_twice<axis, dimension<verdict.dim>, Spec>>{};
  else if constexpr (verdict.rule == broken::spec_is_malformed)
    return refused<spec_is_malformed<axis, dimension<verdict.dim>, Spec>>{};
  else if constexpr (verdict.rule == broken::rank_is_too_high)
    return refused<rank_is_too_high<dimension<verdict.dim>>>{};
  else if constexpr (verdict.rule == broken::grain_is_malformed)
    return refused<grain_is_malformed<axis, dimension<verdict.dim>, Spec>>{};
  else if constexpr (verdict.rule == broken::partial_axis_also_splits)
    return refused<partial_axis_also_splits<axis, dimension<verdict.dim>, Spec, Partial>>{};
  else if constexpr (verdict.rule == broken::manual_axis_is_used)
    return refused<manual_axis_is_used<axis, Mesh>>{};
  else
    return refused<pending_axes_are_out_of_order<axis, Partial, Mesh>>{};
}

/// The rule that a layout breaks for an extent that it does not split evenly.
template <broken Rule, int Dim, index_t Have, index_t Unit, class Spec, class Mesh>
[[nodiscard]] constexpr auto refuse_division() noexcept {
  constexpr text_view words = Spec::value.dims[Dim];
  constexpr auto entry = to_fixed_string<words.size()>(words);
  using dim = dimension<Dim>;
  using sizes = nearest<Have / Unit * Unit, (Have / Unit + 1) * Unit>;
  if constexpr (Rule == broken::blocks_do_not_divide_extent)
    return refused<
        blocks_do_not_divide_extent<dim, extent<Have>, multiple_of<Unit>, sizes, entry, Mesh>>{};
  else
    return refused<extent_is_not_divisible<dim, extent<Have>, parts<Unit>, sizes, entry, Mesh>>{};
}

/// Judges a layout type. A class, not a function: most layouts are legal, and that is to cost
/// little.
template <class Mesh, class Spec, class Partial, class Policy,
          bool Legal =
              resolve_parts(Mesh::value, Spec::value, Partial::value, Policy::value).verdict.ok()>
struct layout_judge : legal {};
template <class Mesh, class Spec, class Partial, class Policy>
struct layout_judge<Mesh, Spec, Partial, Policy, false>
    : decltype(refuse_layout<Mesh, Spec, Partial, Policy>()) {};

/// The rule that a layout breaks for the extents of a tensor; a layout that is refused itself has
/// been told of.
template <class Layout, class Extents>
[[nodiscard]] constexpr auto refuse_extents() noexcept {
  constexpr diagnosis verdict = check(Layout::mesh_type::value, Layout::value, Extents::value);
  using spec = typename Layout::spec_type;
  if constexpr (!layout_judge<typename Layout::mesh_type, spec, typename Layout::partial_type,
                              typename Layout::policy_type>::ok)
    return refused_before{};
  else if constexpr (verdict.rule == broken::rank_differs_from_spec)
    return refused<rank_differs_from_spec<int{verdict.have}, int{verdict.want}, spec, Extents>>{};
  else if constexpr (verdict.rule == broken::extent_is_negative)
    return refused<extent_is_negative<dimension<verdict.dim>, extent<verdict.have>>>{};
  else if constexpr (verdict.rule == broken::tensor_is_too_large)
    return refused<tensor_is_too_large<dimension<verdict.dim>, extent<verdict.have>>>{};
  else
    return refuse_division<verdict.rule, verdict.dim, verdict.have, verdict.want, spec,
                           typename Layout::mesh_type>();
}

/// Judges a layout for the extents of a tensor.
template <class Layout, class Extents,
          bool Legal = check(Layout::mesh_type::value, Layout::value, Extents::value).ok()>
struct extents_judge : legal {};
template <class Layout, class Extents>
struct extents_judge<Layout, Extents, false> : decltype(refuse_extents<Layout, Extents>()) {};

}  // namespace detail

/// Who holds what: a partition spec on a mesh, the pending reductions or manual axes, and whether
/// shards may be uneven.
///
///     using rows = layout<pod, P<"data", none>>;
///     using terms = layout<pod, P<"data", none>, partial<"model">>;
///     using any = layout<pod, P<"data", none>, partial<>, uneven>;
template <class Mesh, class Spec = detail::missing, class Partial = partial<>, class Policy = exact>
struct layout {
  static_assert(sizeof(typename detail::layout_judge<Mesh, Spec, Partial, Policy>::type) > 0);

  using mesh_type = Mesh;
  using spec_type = Spec;
  using partial_type = Partial;
  using policy_type = Policy;

  /// The layout as a value.
  static constexpr layout_desc value =
      detail::resolve_parts(Mesh::value, Spec::value, Partial::value, Policy::value).layout;
};

}  // namespace shardwise
