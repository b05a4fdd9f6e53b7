// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/error.hpp"
#include "shardwise/expression/operation.hpp"
#include "shardwise/expression/reshard.hpp"
#include "shardwise/layout/manual.hpp"

namespace shardwise {

/// `Axis` is not among the `Manual` axes of the operand of `all_reduce`.
template <fixed_string Axis, class Manual>
struct axis_is_not_manual {
  static_assert(respected<axis_is_not_manual>, "all_reduce folds along manual axes of its operand");
};

namespace detail {

/// A rule of manual sharding applied to types: `Rule::judge(mesh, tensor)` is its value.
template <class X, class Rule>
struct manual_type {
  using mesh_type = typename X::mesh_type;
  static constexpr manual_result value = Rule::judge(mesh_type::value, X::value);
  static constexpr const extents_desc& extents_value = value.tensor.extents;
  static constexpr const layout_desc& layout_value = value.tensor.layout;

  /// The result as a type. Where no rule is broken, that is.
  [[nodiscard]] static constexpr auto result() noexcept {
    return paper_tensor<typename X::value_type, extents_from_value<manual_type>,
                        layout_from_value<mesh_type, manual_type>>{};
  }
};

/// Applies a rule of manual sharding to an operand that it does not refuse.
template <class Rule, class X>
[[nodiscard]] constexpr auto by_hand(X&& x, reduction fold = reduction::sum) {
  using result = decltype(manual_type<paper_of<X>, Rule>::result());
  const manual_result known = Rule::judge(x.mesh(), desc_of(x));
  require(known.verdict);
  return std::remove_cvref_t<X>::domain::template by_hand<result>(static_cast<X&&>(x), known.tensor,
                                                                  fold);
}

struct enter_manual {
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return to_manual(mesh, tensor);
  }
};
template <class Target>
struct leave_manual {
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    return from_manual(mesh, tensor, Target::value);
  }
};
template <fixed_string... Axes>
struct reduce_manual {
  [[nodiscard]] static constexpr manual_result judge(const mesh_desc& mesh,
                                                     const tensor_desc& tensor) noexcept {
    manual_result result{tensor, {}};
    unsigned bits = 0;
    for (const text_view label : {text_view(Axes)...}) {
      const int axis = mesh.find(label);
      if (axis < 0 && result.verdict.ok())
        result.verdict = {.rule = broken::axis_is_not_manual, .axis = name(label)};
      if (axis >= 0) bits |= 1U << axis;
    }
    return result.verdict.ok() ? reduced_manual(mesh, tensor, bits) : result;
  }
};

/// Judges the three rules.
template <class X, class Rule, class Target = typename X::layout_type>
[[nodiscard]] constexpr auto judge_manual() noexcept {
  constexpr diagnosis verdict = manual_type<X, Rule>::value.verdict;
  constexpr auto axis = to_fixed_string<verdict.axis.size()>(verdict.axis);
  using from = typename X::layout_type;
  if constexpr (verdict.ok())
    return legal{};
  else if constexpr (verdict.rule == broken::manual_axis_is_used)
    return refused<manual_axis_is_used<axis, typename from::mesh_type>>{};
  else if constexpr (verdict.rule == broken::axis_is_not_manual)
    return refused<axis_is_not_manual<
        axis,
        manual<entry_of_axes<typename from::mesh_type, pack(from::value.manual_axes())>::value>>>{};
  else if constexpr (verdict.rule == broken::manual_axis_is_left)
    return refused<manual_axis_is_left<axis, typename Target::spec_type>>{};
  else if constexpr (verdict.rule == broken::operand_layouts_conflict)
    return refused<operand_layouts_conflict<
        Rule, typename operand<0>::template dimension<verdict.dim>, axis, "">>{};
  else if constexpr (verdict.rule == broken::rank_differs_from_spec)
    return refused<rank_differs_from_spec<int{verdict.have}, int{verdict.want},
                                          typename Target::spec_type, typename X::extents_type>>{};
  else
    return extents_judge<
        layout<typename from::mesh_type, typename from::spec_type, typename from::partial_type>,
        typename X::extents_type>{};
}

}  // namespace detail

/// Hands a tensor over to the program, device by device: its extents become those of one shard, its
/// dimensions are not split any more, and the axes that split them are manual. Nothing moves.
///
/// What follows runs on each device for itself, any function of it; what knows nothing of the
/// manual axes stays as it is, and values of different devices meet in `all_reduce` alone. Every
/// split extent divides, and nothing is pending.
///
///     auto x = enable_manual_sharding(rows);                    // of f32[512@data, 64]
///     auto y = all_reduce<"data">(sum<0>(x * x));               // f32[64]
///     auto z = disable_manual_sharding<P<"data", none>>(exp(x));    // f32[512@data, 64]
template <Operand X>
[[nodiscard]] constexpr decltype(auto) enable_manual_sharding(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using rule = detail::enter_manual;
    using judged = decltype(detail::judge_manual<paper_of<X>, rule>());
    if constexpr (judged::ok) {
      return detail::by_hand<rule>(static_cast<X&&>(x));
    } else {
      return detail::given<judged>::value();
    }
  }
}

/// Takes a tensor back: what the devices hold along the manual axes becomes one tensor that
/// `Target` splits, a spec or a whole layout. Nothing moves. `Target` names every manual axis; an
/// axis that is not manual repeats what its devices share.
template <class Target, Operand X>
[[nodiscard]] constexpr decltype(auto) disable_manual_sharding(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using paper = paper_of<X>;
    using to = typename detail::reshard_target<typename paper::mesh_type, exact, Target>::type;
    using rule = detail::leave_manual<to>;
    using judged = decltype(detail::judge_manual<paper, rule, to>());
    if constexpr (judged::ok) {
      return detail::by_hand<rule>(static_cast<X&&>(x));
    } else {
      return detail::given<judged>::value();
    }
  }
}

/// Folds the values that the devices along manual axes have of a tensor into one that all of them
/// hold; JAX's psum, pmax and pmin.
///
///     auto total = all_reduce<"data">(x);                        // the sum
///     auto most = all_reduce<reduction::max, "data", "model">(x);
template <reduction Fold, fixed_string... Axes, Operand X>
[[nodiscard]] constexpr decltype(auto) all_reduce(X&& x) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else {
    using rule = detail::reduce_manual<Axes...>;
    using judged = decltype(detail::judge_manual<paper_of<X>, rule>());
    if constexpr (judged::ok) {
      return detail::by_hand<rule>(static_cast<X&&>(x), Fold);
    } else {
      return detail::given<judged>::value();
    }
  }
}
template <fixed_string... Axes, Operand X>
[[nodiscard]] constexpr decltype(auto) all_reduce(X&& x) {
  return all_reduce<reduction::sum, Axes...>(static_cast<X&&>(x));
}

}  // namespace shardwise
