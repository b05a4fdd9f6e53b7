// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/mesh/mesh.hpp"

#include <type_traits>

namespace shardwise {

template <class Mesh, class Spec, class Partial, class Policy>
struct layout;

namespace internal {

/// Resolves the arguments of a layout type; arguments of other kinds are rejected. Overloads do
/// this at no cost for legal layouts.
[[nodiscard]] constexpr resolved_layout resolve_parts(const mesh_desc& mesh, const spec_desc& spec,
                                                      const partial_desc& partial,
                                                      const cut_policy& policy) noexcept {
  return resolve(mesh, spec, partial, policy_desc(policy));
}
template <class Mesh, class Spec, class Partial, class Policy>
[[nodiscard]] constexpr resolved_layout resolve_parts(const Mesh&, const Spec&, const Partial&,
                                                      const Policy&) noexcept {
  return {{}, {.rule = violation::layout_is_malformed}};
}

/// How errors print an argument that is of the wrong kind: printing a whole layout would make the
/// line long.
struct a_layout;
template <class Part>
struct part_shown {
  using type = Part;
};
template <class Mesh, class Spec, class Partial, class Policy>
struct part_shown<layout<Mesh, Spec, Partial, Policy>> {
  using type = a_layout;
};

/// The first argument of a layout whose kind is wrong at its position.
template <int At, class Part>
using wrong_part =
    refused<violation::layout_is_malformed, typename part_shown<Part>::type, argument_at{At}>;
template <class Mesh, class Spec, class Partial, class Policy>
[[nodiscard]] constexpr auto refuse_part() noexcept {
  if constexpr (!std::is_same_v<decltype(Mesh::value), const mesh_desc>)
    return wrong_part<0, Mesh>{};
  else if constexpr (!std::is_same_v<decltype(Spec::value), const spec_desc>)
    return wrong_part<1, Spec>{};
  else if constexpr (!std::is_same_v<decltype(Partial::value), const partial_desc>)
    return wrong_part<2, Partial>{};
  else
    return wrong_part<3, Policy>{};
}

/// The rule that a layout type breaks.
template <class Mesh, class Spec, class Partial, class Policy>
[[nodiscard]] constexpr auto refuse_layout() noexcept {
  constexpr auto verdict = [] {
    return resolve_parts(Mesh::value, Spec::value, Partial::value, Policy::value).verdict;
  };
  // A layout in the place of another part is asked nothing: its error would be a second one.
  if constexpr (RefusedPart<Mesh> || std::is_same_v<Spec, refused_part> ||
                std::is_same_v<Partial, refused_part> || std::is_same_v<Policy, refused_part>)
    return refused<>{};
  else if constexpr (verdict().rule == violation::layout_is_malformed)
    return refuse_part<Mesh, Spec, Partial, Policy>();
  else
    return answer_to<Mesh, Spec, Partial>(verdict);
}

/// Checks a layout type. A class rather than a function, which makes the check cheap for legal
/// layouts.
template <class Mesh, class Spec, class Partial, class Policy,
          bool Legal =
              resolve_parts(Mesh::value, Spec::value, Partial::value, Policy::value).verdict.ok()>
struct layout_judge : allowed<> {};
template <class Mesh, class Spec, class Partial, class Policy>
struct layout_judge<Mesh, Spec, Partial, Policy, false>
    : decltype(refuse_layout<Mesh, Spec, Partial, Policy>()) {};

/// The rule that a layout breaks for the extents of a tensor; a layout that is itself rejected has
/// already caused an error.
template <class Layout, class Extents>
[[nodiscard]] constexpr auto refuse_extents() noexcept {
  using mesh = typename Layout::mesh_type;
  using spec = typename Layout::spec_type;
  using pending = typename Layout::partial_type;
  constexpr auto verdict = [] {
    diagnosis found = validate(mesh::value, Layout::value, Extents::value);
    found.axis = {};
    return found;
  };
  if constexpr (!layout_judge<mesh, spec, pending, typename Layout::policy_type>::ok)
    return refused<>{};
  else
    // The entry of the dimension tells more than the axis alone.
    return answer_to<mesh, spec, pending, Extents>(
        verdict, text_shown<called>([] {
          const int dim = decltype(verdict){}().dim;
          return dim < 0 ? text_view() : text_view(spec::value.dims[dim]);
        }));
}

/// Checks a layout for the extents of a tensor.
template <class Layout, class Extents,
          bool Legal = validate(Layout::mesh_type::value, Layout::value, Extents::value).ok()>
struct extents_judge : allowed<> {};
template <class Layout, class Extents>
struct extents_judge<Layout, Extents, false> : decltype(refuse_extents<Layout, Extents>()) {};

}  // namespace internal

/// The distribution of a tensor over devices: a partition spec on a mesh, the pending reductions or
/// manual axes, and the policy: `exact`, `uneven` or `single_cut`.
///
///     using rows = layout<pod, P<"data", none>>;
///     using terms = layout<pod, P<"data", none>, partial<"model">>;
///     using any = layout<pod, P<"data", none>, partial<>, uneven>;
template <class Mesh, class Spec = internal::missing, class Partial = partial<>,
          class Policy = exact>
struct layout {
  static_assert(sizeof(typename internal::layout_judge<Mesh, Spec, Partial, Policy>::type) > 0);

  using mesh_type = Mesh;
  using spec_type = Spec;
  using partial_type = Partial;
  using policy_type = Policy;

  /// The layout as a value.
  static constexpr layout_desc value =
      internal::resolve_parts(Mesh::value, Spec::value, Partial::value, Policy::value).layout;
};

}  // namespace shardwise
