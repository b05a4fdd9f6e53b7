// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/layout.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace shardwise::internal {

/// The extents of a tensor as a type: `extents<...>`, or a struct that is one.
template <class E>
concept ExtentsType = requires {
  { E::value } -> std::same_as<const extents_desc&>;
};

/// A layout as a type: `layout<...>`, or a struct that is one.
template <class L>
concept LayoutType = requires {
  { L::value } -> std::same_as<const layout_desc&>;
};

/// Returns true if these are the arguments of a tensor. Arguments written as templates are
/// recognized without instantiating them, which would repeat the error of an illegal layout.
template <class T, class Extents, class Layout>
inline constexpr bool are_parts_of_tensor =
    is_element<T>&& ExtentsType<Extents>&& LayoutType<Layout>;
template <class T, index_t... Sizes, class Mesh, class Spec, class Partial, class Policy>
inline constexpr bool
    are_parts_of_tensor<T, extents<Sizes...>, layout<Mesh, Spec, Partial, Policy>> =
        is_element<T> &&
        sizeof...(Sizes) <= std::size_t{max_rank} && layout_judge<Mesh, Spec, Partial, Policy>::ok;

/// The error for a type that is not the extents of a tensor.
template <class Part>
struct refused_extents
    : refused<misuse::tensor_is_malformed, typename part_shown<Part>::type, argument_at{1}> {};
template <index_t... Sizes>
struct refused_extents<extents<Sizes...>>
    : refused<violation::rank_is_too_high, of_types<>, dimension_at{max_rank}> {};

/// The error for a type that is not a legal layout.
template <class Part>
struct refused_layout : refused<misuse::tensor_is_malformed, Part, argument_at{2}> {};
template <class Mesh, class Spec, class Partial, class Policy>
struct refused_layout<layout<Mesh, Spec, Partial, Policy>>
    : layout_judge<Mesh, Spec, Partial, Policy> {};

/// The rule that three types break which are not the arguments of a tensor.
template <class T, class Extents, class Layout>
[[nodiscard]] constexpr auto refuse_parts() noexcept {
  if constexpr (std::is_same_v<Extents, refused_value::extents_type> ||
                std::is_same_v<Layout, refused_part>)
    return refused<>{};
  else if constexpr (!is_element<T>)
    return refused<misuse::element_is_not_supported, T>{};
  else if constexpr (!are_parts_of_tensor<T, Extents, layout<mesh<>, P<>>>)
    return refused_extents<Extents>{};
  else
    return refused_layout<Layout>{};
}
/// The rule for a tensor type, or for another type in its place.
template <class T, class Extents, class Layout>
[[nodiscard]] constexpr auto refuse_tensor(
    std::type_identity<sharded_tensor<T, Extents, Layout>>) noexcept {
  return refuse_parts<T, Extents, Layout>();
}
template <class X>
[[nodiscard]] constexpr auto refuse_tensor(std::type_identity<X>) noexcept {
  return refused<misuse::tensor_is_malformed, X>{};
}

/// Checks a tensor as a program names it: its arguments, and then whether they fit together.
template <class T, class Extents, class Layout,
          bool Legal = are_parts_of_tensor<T, Extents, Layout>>
struct tensor_judge : extents_judge<Layout, Extents> {
  using mesh_type = typename Layout::mesh_type;
};
template <class T, class Extents, class Layout>
struct tensor_judge<T, Extents, Layout, false> : decltype(refuse_parts<T, Extents, Layout>()) {
  using mesh_type = void;
};

/// Checks a tensor type without instantiating it.
template <class X>
struct tensor_type_judge;
template <class T, class Extents, class Layout>
struct tensor_type_judge<sharded_tensor<T, Extents, Layout>> : tensor_judge<T, Extents, Layout> {};

}  // namespace shardwise::internal
