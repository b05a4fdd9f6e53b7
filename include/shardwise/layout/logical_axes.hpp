// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/key.hpp"
#include "shardwise/layout/logical_axes_text.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <concepts>
#include <utility>

namespace shardwise {

/// A dimension of a tensor with a logical name and an extent, `dyn` if known only at run time. A
/// dimension without a name, `dim<none, 3>`, is never split.
///
///     using batch = dim<"batch", 512>;
template <fixed_string Name, index_t Size>
struct dim {
  static constexpr text_view label = Name;
  static constexpr index_t size = Size;
};

/// A rule: dimensions named `Name` are split over the first of these alternatives whose axes are
/// free. An alternative is one axis, `by(axes)`, or `none`.
///
///     maps<"embed", "model", by("x", "y"), none>
template <fixed_string Name, fixed_string First, fixed_string... Rest>
struct maps {
  static constexpr std::size_t count = 1 + sizeof...(Rest);
  static constexpr axis_rule_desc alternatives[count] = {{Name, First}, {Name, Rest}...};
};

/// In an error: the names with rules that are most similar to a name without one.
template <fixed_string... Names>
struct nearest_names;
/// In an error: `Axis`, which the first alternative uses, already splits the dimension named
/// `Name`.
template <fixed_string Axis, fixed_string Name>
struct taken_by;

namespace detail {

/// Checks an argument of `axis_rules`; errors show it in place of a mesh and of a spec.
template <class Mesh, class Maps>
[[nodiscard]] constexpr auto judge_maps() noexcept {
  return answer_to<Maps, Maps>([] {
    return validate(axis_rules_desc{Mesh::value, Maps::alternatives});
  });
}

/// The alternatives of all rules in sequence, and one unused element, since arrays cannot be empty.
template <std::size_t Count>
struct joined_rules {
  axis_rule_desc list[Count + 1]{};
};
template <class... Maps>
[[nodiscard]] constexpr auto join_rules() noexcept {
  joined_rules<(std::size_t{} + ... + Maps::count)> joined;
  std::size_t end = 0;
  [[maybe_unused]] const auto append = [&](const axis_rule_desc* alternatives, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) joined.list[end++] = alternatives[i];
  };
  (append(Maps::alternatives, Maps::count), ...);
  return joined;
}
template <class... Maps>
inline constexpr auto joined = join_rules<Maps...>();

// Deduced through function parameters, for the reason given in key.hpp.
template <fixed_string... Names>
nearest_names<Names...> nearest_from(entries<Names...>);
template <fixed_string Axis, fixed_string Name>
taken_by<Axis, Name> taken_from(entries<Axis, Name>);

/// The facts about a tensor whose names are rejected.
template <class Rules, class... Dims>
struct refused_names {
  static constexpr dim_names names{Dims::label...};
  static constexpr resolved_dims found = resolve(Rules::value, names);
  static constexpr int at = found.verdict.dim;
  static constexpr auto nearest = nearest_names_to(Rules::value, names[at]);
  template <std::size_t... I>
  static auto nearest_type(std::index_sequence<I...>)
      -> decltype(nearest_from(entries<to_fixed_string<nearest[I].size()>(nearest[I])...>{}));
  template <class... Shown>
  [[nodiscard]] static constexpr auto refuse() noexcept {
    return answer_to<Shown..., Rules>([] { return found.verdict; });
  }
  [[nodiscard]] static constexpr auto rule() noexcept {
    if constexpr (found.verdict.rule == violation::name_is_repeated) {
      return refuse<>();
    } else if constexpr (found.verdict.rule == violation::name_has_no_rule) {
      return refuse<decltype(nearest_type(std::make_index_sequence<nearest.size()>{}))>();
    } else {
      constexpr taken_axis taken = passed_over(Rules::value, names, found, at)[0];
      constexpr short_name axis = Rules::value.mesh.axes[taken.axis].label;
      constexpr text_view owner = names[taken.dim];
      return refuse<decltype(taken_from(
          entries<to_fixed_string<axis.size()>(axis), to_fixed_string<owner.size()>(owner)>{}))>();
    }
  }
};

/// Checks the names of a tensor; illegal rules have already caused an error.
template <class Rules, bool Legal, class... Dims>
struct names_judge : allowed<> {};
template <class Rules, class... Dims>
struct names_judge<Rules, false, Dims...> : decltype(refused_names<Rules, Dims...>::rule()) {};

/// The layout that rules give to named dimensions.
template <class Rules, class... Dims>
struct layout_of_names {
  static constexpr resolved_dims found = resolve(Rules::value, dim_names{Dims::label...});
  static constexpr bool legal_or_said = found.verdict.ok() || found.verdict.dim < 0;
  static_assert(sizeof(typename names_judge<Rules, legal_or_said, Dims...>::type) > 0);

  static constexpr spec_desc entries_of = spec_of(Rules::value, found);
  template <std::size_t... D>
  static auto spec(std::index_sequence<D...>) -> decltype(spec_from(
      entries<to_fixed_string<entries_of.dims[D].size()>(entries_of.dims[D])...>{}));
  using type = layout<typename Rules::mesh_type,
                      decltype(spec(std::make_index_sequence<sizeof...(Dims)>{}))>;
};

/// The tensor type; a separate class makes errors short.
template <class Rules, class T, class... Dims>
struct tensor_of_names {
  using type =
      sharded_tensor<T, extents<Dims::size...>, typename layout_of_names<Rules, Dims...>::type>;
};

}  // namespace detail

/// The rules of a program: the mesh axes that split dimensions of a given name, as in Flax or
/// MaxText. Rules are applied in order, so the first one has the first choice, and an axis splits
/// only one dimension of a tensor. Several rules for a name are alternatives in that order.
///
/// Derive a struct from it, so that errors say `rules`.
///
///     struct rules : axis_rules<pod, maps<"batch", "data">, maps<"heads", "model">,
///                               maps<"embed", "model", none>> {};
template <Mesh M, class... Maps>
struct axis_rules {
  static_assert(
      (std::size_t{} + ... + sizeof(typename decltype(detail::judge_maps<M, Maps>())::type)) + 1 >
      0);

  using mesh_type = M;

  /// The rules as a value.
  static constexpr axis_rules_desc value{
      M::value, {detail::joined<Maps...>.list, (std::size_t{} + ... + Maps::count)}};
};

/// Rules for named dimensions: `axis_rules<...>` or a struct that is one.
template <class Rules>
concept AxisRules = requires {
  { Rules::value } -> std::convertible_to<axis_rules_desc>;
  typename Rules::mesh_type;
};

/// The layout of a tensor with these dimensions: split as the rules say, `exact`, with nothing
/// pending.
///
/// Does not compile if a name has no rule, is used twice, or finds all of its alternatives taken.
template <AxisRules Rules, class... Dims>
using named_layout = typename detail::layout_of_names<Rules, Dims...>::type;

/// The spec of such a tensor, for `reshard` and for layouts with another policy or pending axes:
/// `layout<pod, named_spec<rules, batch, embed>, partial<>, uneven>`.
template <AxisRules Rules, class... Dims>
using named_spec = typename detail::layout_of_names<Rules, Dims...>::type::spec_type;

/// A tensor of `T` with these dimensions: an ordinary `sharded_tensor` with the names resolved.
///
///     using X = named_tensor<rules, float, dim<"batch", 512>, dim<"embed", 1024>>;
///     static_assert(type_name<X>() == "f32[512@data, 1024@model]");
template <AxisRules Rules, class T, class... Dims>
using named_tensor = typename detail::tensor_of_names<Rules, T, Dims...>::type;

/// Returns what each dimension of such a tensor is split over, and why earlier alternatives were
/// not taken; one line each.
template <AxisRules Rules, class... Dims>
[[nodiscard]] constexpr message_text explain() noexcept {
  return explain(Rules::value, dim_names{Dims::label...});
}

}  // namespace shardwise
