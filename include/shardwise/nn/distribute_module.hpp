// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/nest.hpp"
#include "shardwise/nn/distribute_values.hpp"
#include "shardwise/nn/on_paper.hpp"
#include "shardwise/nn/planned.hpp"
#include "shardwise/operation/reshard.hpp"

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace detail {

/// The type of member `I` of an aggregate.
template <class Nest, std::size_t I>
using member_of = nth_type<I, decltype(list_members(std::declval<Nest&>()))>;

/// True for nests of the same kind, with as many members.
template <class Target, class Source>
inline constexpr bool have_same_members = [] {
  constexpr nest_kind kind = nest_kind_of<Target>();
  if constexpr (kind != nest_kind_of<Source>())
    return false;
  else if constexpr (kind == nest_kind::aggregate)
    return member_count<Target> == member_count<Source>;
  else if constexpr (kind == nest_kind::tuple)
    return std::tuple_size<Target>::value == std::tuple_size<Source>::value;
  else
    return true;
}();

/// Checks that each tensor of a module can be resharded to the layout of its target.
template <class Target, class Source>
[[nodiscard]] constexpr auto judge_distributed() noexcept {
  constexpr nest_kind kind = nest_kind_of<Target>();
  if constexpr (NamelessWrapper<Target> && !NamelessWrapper<Source>) {
    return judge_distributed<member_of<Target, 0>, Source>();
  } else if constexpr (NamelessWrapper<Source> && !NamelessWrapper<Target>) {
    return judge_distributed<Target, member_of<Source, 0>>();
  } else if constexpr (!have_same_members<Target, Source> ||
                       (kind == nest_kind::tensor &&
                        ValueOperand<Target> != ValueOperand<Source>)) {
    return refused<misuse::module_members_differ, of_types<Target, Source>>{};
  } else if constexpr (kind == nest_kind::tensor && ValueOperand<Source>) {
    return std::conditional_t<std::is_same_v<Target, Source>, allowed<>,
                              refused<misuse::module_members_differ, of_types<Target, Source>>>{};
  } else if constexpr (kind == nest_kind::tensor) {
    return judge_part<reshard_call<typename Target::layout_type, void>, const Source&>();
  } else if constexpr (kind == nest_kind::frozen) {
    return judge_distributed<decltype(Target::value), decltype(Source::value)>();
  } else if constexpr (kind == nest_kind::range) {
    return judge_distributed<typename Target::value_type, typename Source::value_type>();
  } else if constexpr (kind == nest_kind::tuple) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return
          typename first_refusal<decltype(judge_distributed<std::tuple_element_t<I, Target>,
                                                            std::tuple_element_t<I, Source>>())...,
                                 allowed<>>::type{};
    }
    (std::make_index_sequence<std::tuple_size<Target>::value>{});
  } else if constexpr (kind == nest_kind::aggregate) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return typename first_refusal<
          decltype(judge_distributed<member_of<Target, I>, member_of<Source, I>>())...,
          allowed<>>::type{};
    }
    (std::make_index_sequence<member_count<Target>>{});
  } else {
    return allowed<>{};
  }
}

template <class Target, class Source>
[[nodiscard]] constexpr auto distribute_alike(const Source& from);

/// Distributes a nest; modules between two layouts are distributed to the modules themselves and
/// back.
template <class Target, class Source>
[[nodiscard]] constexpr auto distribute_nest(const Source& from) {
  if constexpr (NamelessWrapper<Target> && !NamelessWrapper<Source>)
    return Target{distribute_nest<member_of<Target, 0>>(from)};
  else if constexpr (NamelessWrapper<Source> && !NamelessWrapper<Target>)
    return distribute_nest<Target>(nth<0>(list_members(from)));
  else
    return distribute_alike<Target>(from);
}
template <class Target, class Source>
[[nodiscard]] constexpr auto distribute_alike(const Source& from) {
  constexpr nest_kind kind = nest_kind_of<Target>();
  if constexpr (kind == nest_kind::tensor && ValueOperand<Source>) {
    return from;
  } else if constexpr (kind == nest_kind::tensor) {
    return reshard<typename Target::layout_type>(from);
  } else if constexpr (kind == nest_kind::frozen) {
    if constexpr (requires { from.is_left_out; })
      return Target{distribute_nest<decltype(Target::value)>(from.value), from.is_left_out};
    else
      return Target{distribute_nest<decltype(Target::value)>(from.value)};
  } else if constexpr (kind == nest_kind::tuple) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using std::get;
      return Target{distribute_nest<std::tuple_element_t<I, Target>>(get<I>(from))...};
    }
    (std::make_index_sequence<std::tuple_size<Target>::value>{});
  } else if constexpr (kind == nest_kind::range) {
    Target to;
    for (const auto& each : from) to.push_back(distribute_nest<typename Target::value_type>(each));
    return to;
  } else if constexpr (kind == nest_kind::aggregate) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Target{distribute_nest<member_of<Target, I>>(nth<I>(list_members(from)))...};
    }
    (std::make_index_sequence<member_count<Target>>{});
  } else {
    return from;
  }
}

/// The type to which a module is distributed: the target, without elements if the tensors of the
/// module have none, or the module under a plan.
template <class Target, class Source>
struct distributed {
  using first = std::remove_cvref_t<decltype(first_in(std::declval<const Source&>()))>;
  static constexpr bool is_on_paper = requires { requires !first::domain::has_values; };
  using type = std::conditional_t<is_on_paper, on_paper<Target>, Target>;
};
template <nn::Plan Target, class Source>
struct distributed<Target, Source> {
  using type = typename planned_nest<Source, Target>::type;
};

/// True for a nest with a tensor that has a run-time layout.
template <class Nest>
[[nodiscard]] constexpr bool has_layout_values() noexcept {
  return any_in_nest<Nest>([]<class Each>(std::type_identity<Each>) { return ValueOperand<Each>; });
}

}  // namespace detail

namespace nn {

/// Reshards each tensor of a module to the layout of the corresponding member of `Target`; other
/// members do not change. Both must have the same members and element types. `Target` may be a
/// plan: then the result has type `planned<Source, Target>`, and tensors with run-time layouts
/// follow the plan too.
///
/// It has a ledger on paper and a gradient: within a loss it gathers a fully sharded model, and the
/// gradients are reduce-scattered.
///
///     auto split = nn::distribute_module<split_model>(whole);
///     auto planned = nn::distribute_module<tensor_parallel>(whole);
///     constexpr auto loss = [](const auto& stored, const auto& x) {
///       return mean_loss(nn::distribute_module<working_model>(stored), x);
///     };
template <class Target, class Source>
[[nodiscard]] constexpr auto distribute_module(const Source& from) {
  if constexpr (AnyRefused<Source>) {
    return refused_value{};
  } else {
    using type = typename detail::distributed<Target, Source>::type;
    // Reported here, where the program calls, in few lines.
    using judged = decltype(detail::judge_distributed<type, Source>());
    if constexpr (!judged::ok) {
      using reported [[maybe_unused]] = decltype(typename judged::type{});
      return refused_value{};
    } else if constexpr (Plan<Target> && detail::has_layout_values<Source>()) {
      auto made = detail::distribute_nest<type>(from);
      detail::distribute_values(made, Target::value);
      return made;
    } else {
      return detail::distribute_nest<type>(from);
    }
  }
}

/// The same with a plan that is a value, for tensors with run-time layouts.
///
/// Throws `pattern_matches_nothing` or `parameter_has_no_rule` with the names,
/// `planned_layout_is_fixed` for a rule that would change a type, or the error of an invalid
/// layout.
///
///     const nn::plan_rule_desc rules[] = {{"*.up", nn::plan_action::columns, "model"}};
///     model = nn::distribute_module(model, nn::plan_desc{rules});
template <class Model>
[[nodiscard]] Model distribute_module(Model model, const plan_desc& plan) {
  detail::require_plan(detail::names_in(model), plan);
  detail::distribute_values(model, plan);
  return model;
}

}  // namespace nn

}  // namespace shardwise
