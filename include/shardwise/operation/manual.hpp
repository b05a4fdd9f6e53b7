// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/expression/operation.hpp"
#include "shardwise/layout/manual.hpp"
#include "shardwise/operation/reshard.hpp"
#include "shardwise/rule/manual_collective.hpp"

namespace shardwise {

namespace detail {

/// The rules of manual sharding: `judge<X>(mesh, tensor)` returns the resulting tensor, `target<X>`
/// is the requested layout, and `shown` is the name of the rule in errors.
struct enter_manual {
  using shown = enter_manual;
  template <class X>
  using target = typename X::layout_type;
  template <class X>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return to_manual(mesh, tensor);
  }
};
template <class Target>
struct leave_manual {
  using shown = struct leaving;
  template <class X>
  using target = typename reshard_target<mesh_of<X>, exact, Target>::type;
  template <class X>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return from_manual(mesh, tensor, target<X>::value);
  }
  template <ValueOperand X>
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) {
    return from_manual(mesh, tensor, value_target<Target, exact>(mesh, {}));
  }
  [[nodiscard]] static constexpr auto judge_target() noexcept {
    return judge_value_target<Target, void>();
  }
};

/// A rule of manual sharding applied to an operand.
template <class X, class Rule>
struct manual_type {
  static constexpr manual_result value =
      Rule::template judge<X>(mesh_of<X>::value, paper_of<X>::value);
  static constexpr const extents_desc& extents_value = value.tensor.extents;
  static constexpr const layout_desc& layout_value = value.tensor.layout;
};

/// The call of a function that applies `Rule`; if it is a collective, the rule names it.
template <class Rule>
struct manual_call {
  template <class X>
  [[nodiscard]] static constexpr auto judge() noexcept {
    if constexpr (!EitherOperand<X>)
      return no_tensor<typename Rule::shown, 0, X>{};
    else if constexpr (ValueOperand<X>)
      return judge_value<std::remove_cvref_t<X>>();
    else
      return judge_tensor<std::remove_cvref_t<X>>();
  }
  template <class X>
  [[nodiscard]] static constexpr auto apply(X&& x) {
    using tensor = std::remove_cvref_t<X>;
    if constexpr (ValueOperand<X>) {
      const manual_result known = Rule::template judge<tensor>(x.mesh(), x.tensor());
      require(known.verdict);
      return manually<typename tensor::value_domain, tensor>(static_cast<X&&>(x), known.tensor);
    } else {
      const manual_result known = Rule::template judge<tensor>(x.mesh(), desc_of(x));
      require(known.verdict);
      return manually<typename tensor::domain, made<tensor>>(static_cast<X&&>(x), known.tensor);
    }
  }

 private:
  template <class Domain, class Made, class X>
  [[nodiscard]] static constexpr Made manually(X&& x, const tensor_desc& result) {
    if constexpr (requires(const mesh_desc& mesh) { Rule::called(mesh); })
      return Domain::template manually<Made>(static_cast<X&&>(x), result,
                                             Rule::called(x.mesh()).from_front(result.rank()));
    else
      return Domain::template manually<Made>(static_cast<X&&>(x), result);
  }
  template <class X>
  [[nodiscard]] static constexpr auto judge_value() noexcept {
    if constexpr (requires { Rule::judge_target(); }) {
      using judged = decltype(Rule::judge_target());
      return std::conditional_t<judged::ok, allowed<X>, judged>{};
    } else {
      return allowed<X>{};
    }
  }
  template <class X>
  [[nodiscard]] static constexpr auto judge_tensor() noexcept {
    using target = typename Rule::template target<X>;
    if constexpr (!target_judge<target>::ok)
      return target_judge<target>{};
    else if constexpr (!std::is_same_v<mesh_of<X>, typename target::mesh_type>)
      return refused<violation::operand_meshes_differ,
                     of_types<typename Rule::shown, mesh_of<X>, typename target::mesh_type>,
                     operand_at{0}>{};
    else if constexpr (manual_type<X, Rule>::value.verdict.ok())
      return allowed<made<X>>{};
    else
      return refuse<X, target>();
  }

  template <class X>
  using made =
      typename X::domain::template tensor<typename X::value_type,
                                          extents_from_value<manual_type<X, Rule>>,
                                          layout_from_value<mesh_of<X>, manual_type<X, Rule>>>;

  /// The facts of the target if it breaks a rule, or otherwise of the operand, with its manual
  /// axes.
  template <class X, class Target>
  [[nodiscard]] static constexpr auto refuse() noexcept {
    using from = typename X::layout_type;
    constexpr auto verdict = [] { return manual_type<X, Rule>::value.verdict; };
    if constexpr (verdict().rule == violation::axis_is_not_manual)
      return answer_to<manual<entry_of_axes<mesh_of<X>, pack(from::value.manual_axes())>::value>>(
          verdict);
    else if constexpr (is_of_layout(verdict().rule))
      return answer_to<mesh_of<X>, typename Target::spec_type, typename Target::partial_type,
                       typename X::extents_type>(verdict);
    else
      return answer_to<typename Rule::shown>(verdict, calls_shown<mesh_of<X>>([] {
                                               return propose(paper_of<X>::value,
                                                              manual_type<X, Rule>::value.verdict);
                                             }));
  }
  /// True for a rule of meshes, specs and extents, whose error shows these.
  [[nodiscard]] static constexpr bool is_of_layout(violation rule) noexcept {
    return rule != violation::operand_layouts_conflict && rule != violation::dimension_is_split &&
           rule != violation::dimension_is_out_of_range &&
           rule != violation::partial_value_is_read && rule != violation::positions_are_malformed &&
           rule != violation::operand_is_no_number &&
           rule != violation::operand_is_no_truth_value && rule != violation::operand_is_manual;
  }
};

}  // namespace detail

/// Makes a tensor manual: its extents become those of one shard, its dimensions are no longer
/// split, and the axes that split them become manual. Nothing is communicated.
///
/// Afterwards each device computes its own values, with any function. Values without manual axes
/// stay the same on all devices, and values of different devices are combined only by the
/// collectives in `manual_collectives.hpp`. Every split extent must be divisible, and nothing may
/// be pending.
///
///     auto x = enable_manual_sharding(rows);                    // of f32[512@data, 64]
///     auto y = all_reduce<"data">(sum<0>(x * x));               // f32[64]
///     auto z = disable_manual_sharding<P<"data", none>>(exp(x));    // f32[512@data, 64]
template <class X>
[[nodiscard]] constexpr internal::outcome_of<detail::manual_call<detail::enter_manual>, X>
enable_manual_sharding(X&& x) {
  return internal::carry_out<detail::manual_call<detail::enter_manual>>(static_cast<X&&>(x));
}

/// Ends manual sharding: the devices' values along the manual axes become one tensor that is split
/// by `Target`, a spec or a whole layout. Nothing is communicated. `Target` must contain every
/// manual axis. If it also contains an axis that is not manual, the value that the devices along it
/// share is repeated along the dimension. It is an error if `Target` would split a tensor without
/// manual axes.
template <class Target, class X>
[[nodiscard]] constexpr internal::outcome_of<detail::manual_call<detail::leave_manual<Target>>, X>
disable_manual_sharding(X&& x) {
  return internal::carry_out<detail::manual_call<detail::leave_manual<Target>>>(
      static_cast<X&&>(x));
}

}  // namespace shardwise
