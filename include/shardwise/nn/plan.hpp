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

/// The entry of a dimension of any size that is not split.
template <index_t Size>
inline constexpr fixed_string<1> unsplit = none;

/// True for a template argument that names the spec of a module's result.
template <class T>
inline constexpr bool is_result_spec = std::is_same_v<T, nn::as_computed>;
template <fixed_string... Entries>
inline constexpr bool is_result_spec<P<Entries...>> = true;

/// A module with another spec for its result, and how many places it has for one.
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

/// What a rule does with modules: it finishes their result as `Out`.
template <class Out>
struct finishes_modules {
  template <class Module>
  static constexpr bool can_change = with_result<Module, Out>::places == 1;
  template <class Module>
  using module = typename with_result<Module, Out>::type;
};
/// It does nothing with them.
struct leaves_modules {};

}  // namespace detail

namespace nn {

/// A parameter that every device of a mesh holds: what models are made of whose layouts a plan
/// gives.
///
///     template <class M>
///     using dense = nn::linear<nn::whole<float, M, 8, 16>, nn::whole<float, M, 16>>;
template <class T, class Mesh, index_t... Sizes>
using whole = sharded_tensor<T, extents<Sizes...>, layout<Mesh, P<detail::unsplit<Sizes>...>>>;

/// A rule of a plan: the parameters that a pattern names have a spec.
///
///     nn::place<"embedding.table", P<"model", none>>
template <fixed_string Pattern, class Spec>
struct place : detail::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::place, {}, Spec::value};
};

/// A rule of a plan: weights `[in, out...]` and their biases are split by columns over axes, one or
/// `by(axes)`. The result of a linear map is then split alike.
///
///     nn::column_wise<"layers.*.up", "model">
template <fixed_string Pattern, fixed_string Axes>
struct column_wise : detail::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::columns, Axes, {}};
};

/// A rule of a plan: weights `[in, out...]` are split by rows over axes; vectors stay. The result
/// of a linear map is then a pending sum, which modules that the pattern names finish as `Out`, a
/// spec.
///
///     nn::row_wise<"layers.*.down", "model", P<"data", none, none>>
template <fixed_string Pattern, fixed_string Axes, class Out = as_computed>
struct row_wise : detail::finishes_modules<Out> {
  static constexpr plan_rule_desc value{Pattern, plan_action::rows, Axes, {}};
};
template <fixed_string Pattern, fixed_string Axes>
struct row_wise<Pattern, Axes, as_computed> : detail::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::rows, Axes, {}};
};

/// A rule of a plan: each parameter is split over further axes, each in the first dimension that is
/// then divided evenly; one that has none stays as it is. Parameters that are stored so are
/// gathered where they are used, by `distribute_module`.
///
///     nn::fully_sharded<"*", "data">
template <fixed_string Pattern, fixed_string Axes>
struct fully_sharded : detail::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::further, Axes, {}};
};

/// A rule of a plan: parameters stay as they are, whatever later rules say.
template <fixed_string Pattern>
struct unchanged : detail::leaves_modules {
  static constexpr plan_rule_desc value{Pattern, plan_action::unchanged, {}, {}};
};

/// A rule of a plan: modules give their result as `Out`, a spec. A module has one template argument
/// for it, which is `as_computed` or a spec before.
///
///     nn::finish<"layers.*.attention", P<"data", none, none>>
template <fixed_string Pattern, class Out>
struct finish : detail::finishes_modules<Out> {
  static constexpr plan_rule_desc value{Pattern, plan_action::module, {}, {}};
};

/// A rule of a plan: modules stand between two layouts, see `nn::between`. It is sequence
/// parallelism where `In` splits the positions, and the input and output functions of DTensor's
/// `distribute_module`.
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

/// Which layouts the parameters of a model have, and how its modules are called, by name. A
/// parameter takes the first rule whose pattern matches its name, or that of a module which it is
/// in; it stays as it is if there is none. `*` matches any characters, `?` one. The elements of a
/// vector share their types and are named as its first.
///
/// Does not compile, with a model, if a pattern matches nothing.
///
///     using tensor_parallel = nn::plan<nn::column_wise<"*.up", "model">,
///                                      nn::row_wise<"*.down", "model", P<"data", none>>>;
///     auto split = nn::distribute_module<tensor_parallel>(model);
template <class... Rules>
struct plan {
  static_assert(sizeof...(Rules) <= 64, "a plan has at most 64 rules");

  /// The rules, one more than there are for plans without any.
  static constexpr plan_rule_desc list[sizeof...(Rules) + 1] = {Rules::value..., {}};
  static constexpr plan_desc value{{list, sizeof...(Rules)}, false};
};
/// A plan that has a rule for every parameter: one without a rule is an error.
template <class... Rules>
struct complete_plan : plan<Rules...> {
  static constexpr plan_desc value{plan<Rules...>::value.rules, true};
};

/// A plan as a type: `plan<...>`, `complete_plan<...>`, or a struct that is one.
template <class T>
concept Plan = requires {
  { T::value } -> std::same_as<const plan_desc&>;
};

}  // namespace nn

}  // namespace shardwise
