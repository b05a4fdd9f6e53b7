// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operand.hpp"
#include "shardwise/nn/between.hpp"
#include "shardwise/nn/plan_desc.hpp"

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace shardwise {

namespace detail {

/// The spec entry of a dimension that is not split, whatever its size.
template <index_t Size>
inline constexpr fixed_string<1> unsplit = none;

/// True for a template argument that is the spec of a module's result.
template <class T>
inline constexpr bool is_result_spec = std::is_same_v<T, nn::as_computed>;
template <fixed_string... Entries>
inline constexpr bool is_result_spec<P<Entries...>> = true;

/// A module with another spec for its result, and the number of its template arguments for one.
template <class Module, class Out>
struct with_result {
  static constexpr int places = 0;
  using type = Module;
};
template <template <class...> class Module, class... A, class Out>
struct with_result<Module<A...>, Out> {
  static constexpr int places = (0 + ... + int(is_result_spec<A>));
  using type = Module<std::conditional_t<is_result_spec<A>, Out, A>...>;
};

// The result of a module that is wrapped is that of the module inside, or of the wrapper.
template <class Inner, class In, class Was, class Out>
struct with_result<nn::between<Inner, In, Was>, Out> {
  static constexpr bool is_inside = with_result<Inner, Out>::places == 1;
  static constexpr int places = 1;
  using type =
      std::conditional_t<is_inside, nn::between<typename with_result<Inner, Out>::type, In, Was>,
                         nn::between<Inner, In, Out>>;
};

}  // namespace detail

namespace type_parts {

/// The effect of a rule on modules: it finishes their result with `Out`.
template <class Out>
struct finishes_modules {
  static constexpr bool finishes = true;
  template <class Module>
  static constexpr bool can_change = detail::with_result<Module, Out>::places == 1;
  template <class Module>
  using module = typename detail::with_result<Module, Out>::type;
};
/// No effect on modules.
struct leaves_modules {};

}  // namespace type_parts

namespace nn {

/// A replicated parameter, for models whose layouts are determined by a plan.
///
///     template <class M>
///     using dense = nn::linear<nn::whole<float, M, 8, 16>, nn::whole<float, M, 16>>;
template <class T, class Mesh, index_t... Sizes>
using whole = sharded_tensor<T, extents<Sizes...>, layout<Mesh, P<detail::unsplit<Sizes>...>>>;

/// A rule of a plan: assigns a spec to the parameters that match a pattern.
///
///     nn::place<"embedding.table", P<"model", none>>
template <fixed_string Pattern, class Spec>
struct place : type_parts::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::place, {}, Spec::value};
};

/// A rule of a plan: splits weights `[in, out...]` and their biases by columns over axes, one or
/// `by(axes)`. The result of a linear map is then split alike.
///
///     nn::column_wise<"layers.*.up", "model">
template <fixed_string Pattern, fixed_string Axes>
struct column_wise : type_parts::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::columns, Axes, {}};
};

/// A rule of a plan: splits weights `[in, out...]` by rows over axes; vectors do not change. The
/// result of a linear map is then a pending sum, which modules that match the pattern finish with
/// `Out`, a spec.
///
///     nn::row_wise<"layers.*.down", "model", P<"data", none, none>>
template <fixed_string Pattern, fixed_string Axes, class Out = as_computed>
struct row_wise : type_parts::finishes_modules<Out> {
  static constexpr plan_rule_desc value{Pattern, plan_action::rows, Axes, {}};
};
template <fixed_string Pattern, fixed_string Axes>
struct row_wise<Pattern, Axes, as_computed> : type_parts::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::rows, Axes, {}};
};

/// A rule of a plan: splits each parameter over further axes, each in the first dimension that is
/// then divided evenly; a parameter without such a dimension does not change. Parameters stored in
/// this way are gathered where they are used, by `distribute_module`.
///
///     nn::fully_sharded<"*", "data">
template <fixed_string Pattern, fixed_string Axes>
struct fully_sharded : type_parts::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::further, Axes, {}};
};

/// A rule of a plan: parameters do not change, whatever later rules say.
template <fixed_string Pattern>
struct unchanged : type_parts::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::unchanged, {}, {}};
};

/// A rule of a plan: modules finish their result with `Out`, a spec. A module must have exactly one
/// template argument for it, which was `as_computed` or a spec.
///
///     nn::finish<"layers.*.attention", P<"data", none, none>>
template <fixed_string Pattern, class Out>
struct finish : type_parts::finishes_modules<Out> {
  static constexpr plan_rule_desc value{Pattern, plan_action::module, {}, {}};
};

/// A rule of a plan: wraps modules in `nn::between`, which reshards their inputs and their output.
/// If `In` splits the positions, this is sequence parallelism; it corresponds to the input and
/// output functions of DTensor's `distribute_module`. Other arguments, such as a mask or a cache,
/// are passed on.
///
///     nn::prepare<"layers.*.norm", P<"data", "model", none>, P<"data", none, none>>
template <fixed_string Pattern, class In, class Out = as_computed>
struct prepare {
  static constexpr plan_rule_desc value{Pattern, plan_action::module, {}, {}};

  template <class Module>
  static constexpr bool can_change = true;
  template <class Module>
  using module = between<Module, In, Out>;
};

/// Assigns layouts to the parameters of a model, and changes calls of its modules, by name. A
/// parameter takes the first rule whose pattern matches its name, or that of a module that contains
/// it; without a rule it does not change. `*` matches any characters, `?` one. The elements of a
/// vector have the same type and use the name of its first element.
///
/// It is a compile-time error if a pattern matches nothing in the model.
///
///     using tensor_parallel = nn::plan<nn::column_wise<"*.up", "model">,
///                                      nn::row_wise<"*.down", "model", P<"data", none>>>;
///     auto split = nn::distribute_module<tensor_parallel>(model);
template <class... Rules>
struct plan {
  static_assert(sizeof...(Rules) <= 64, "a plan has at most 64 rules");

  /// The rules, with an additional entry for plans without any.
  static constexpr plan_rule_desc list[sizeof...(Rules) + 1] = {Rules::value..., {}};
  static constexpr plan_desc value{{list, sizeof...(Rules)}, false};
};
/// A plan that must have a rule for every parameter: one without a rule is an error.
template <class... Rules>
struct complete_plan : plan<Rules...> {
  static constexpr plan_desc value{plan<Rules...>::value.rules, true};
};

/// A plan as a type: `plan<...>`, `complete_plan<...>`, or a struct derived from one.
template <class T>
concept Plan = requires {
  { T::value } -> std::same_as<const plan_desc&>;
};

}  // namespace nn

}  // namespace shardwise
