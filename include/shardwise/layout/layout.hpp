// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/diagnostics.hpp"
#include "shardwise/layout/layout_desc.hpp"
#include "shardwise/mesh/mesh.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {

/// The rule that a layout type breaks.
template <class Mesh, class Spec, class Partial>
[[nodiscard]] constexpr auto refuse_layout() noexcept {
  constexpr diagnosis verdict = resolve(Mesh::value, Spec::value, Partial::value).verdict;
  constexpr auto axis = to_fixed_string<verdict.axis.size()>(verdict.axis);
  if constexpr (verdict.rule == broken::axis_is_not_in_mesh)
    return refused<axis_is_not_in_mesh<axis, dimension<verdict.dim>, Mesh>>{};
  else if constexpr (verdict.rule == broken::axis_is_used_twice)
    return refused<axis_is_used_twice<axis, dimension<verdict.dim>, Spec>>{};
  else if constexpr (verdict.rule == broken::spec_is_malformed)
    return refused<spec_is_malformed<axis, dimension<verdict.dim>, Spec>>{};
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
template <broken Rule, class Dimension, index_t Have, index_t Unit, class Spec, class Mesh>
[[nodiscard]] constexpr auto refuse_division() noexcept {
  using sizes = nearest<Have / Unit * Unit, (Have / Unit + 1) * Unit>;
  if constexpr (Rule == broken::blocks_do_not_divide_extent)
    return refused<blocks_do_not_divide_extent<Dimension, extent<Have>, multiple_of<Unit>, sizes,
                                               Spec, Mesh>>{};
  else
    return refused<
        extent_is_not_divisible<Dimension, extent<Have>, parts<Unit>, sizes, Spec, Mesh>>{};
}

/// The rule that a layout breaks for the extents of a tensor.
template <class Layout, class Extents>
[[nodiscard]] constexpr auto refuse_extents() noexcept {
  constexpr diagnosis verdict = check(Layout::mesh_type::value, Layout::value, Extents::value);
  using spec = typename Layout::spec_type;
  if constexpr (verdict.rule == broken::rank_differs_from_spec)
    return refused<rank_differs_from_spec<int{verdict.have}, int{verdict.want}, spec, Extents>>{};
  else if constexpr (verdict.rule == broken::extent_is_negative)
    return refused<extent_is_negative<dimension<verdict.dim>, extent<verdict.have>>>{};
  else
    return refuse_division<verdict.rule, dimension<verdict.dim>, verdict.have, verdict.want, spec,
                           typename Layout::mesh_type>();
}

/// Judges a layout type. A class, not a function: most layouts are legal, and that is to cost
/// little.
template <class Mesh, class Spec, class Partial,
          bool Legal = resolve(Mesh::value, Spec::value, Partial::value).verdict.ok()>
struct layout_judge : legal {};
template <class Mesh, class Spec, class Partial>
struct layout_judge<Mesh, Spec, Partial, false> : decltype(refuse_layout<Mesh, Spec, Partial>()) {};

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
template <class Mesh, class Spec, class Partial = partial<>, class Policy = exact>
struct layout {
  static_assert(sizeof(typename detail::layout_judge<Mesh, Spec, Partial>::type) > 0);

  using mesh_type = Mesh;
  using spec_type = Spec;
  using partial_type = Partial;
  using policy_type = Policy;

  /// The layout as a value.
  static constexpr layout_desc value =
      resolve(Mesh::value, Spec::value, Partial::value, std::is_same_v<Policy, uneven>).layout;
};

}  // namespace shardwise
