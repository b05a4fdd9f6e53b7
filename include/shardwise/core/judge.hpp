// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/broken_rule.hpp"

#include <type_traits>

namespace shardwise {

/// The answer of a judge where no rule is broken: what the operation gives.
template <class Made = char>
struct allowed {
  static constexpr bool ok = true;
  using type = Made;
};

/// The answer where one is: `type` is the broken rule, named but not yet instantiated, so that the
/// error points at the class or function that asks for it. Functions ask by `decltype(type{})`:
/// after a `sizeof` clang would also say that they are no constant expression.
template <auto Rule = broken::nothing, class About = types<>, auto... Facts>
struct refused {
  static constexpr bool ok = false;
  using type = broken_rule<Rule, About, Facts...>;
};
/// The answer where the compiler has said so already.
template <>
struct refused<> {
  static constexpr bool ok = false;
  using type = char;
};

namespace detail {

/// Which of the types that its judge knows the error of a rule shows, by their bits: of a layout
/// the mesh, the spec, the partial, and the extents of the tensor; of an operation itself, the
/// elements that were met, and those that were wanted. What is left out says nothing of the rule.
[[nodiscard]] constexpr unsigned types_shown(broken rule) noexcept {
  constexpr unsigned mesh = 1, spec = 2, partial = 4, extents = 8;
  constexpr unsigned operation = 1, met = 2;
  switch (rule) {
    case broken::mesh_has_too_many_axes:
    case broken::rank_is_too_high:
    case broken::extent_is_negative:
    case broken::tensor_is_too_large:
      return 0;
    case broken::operand_is_no_number:
      return operation;
    case broken::operand_is_no_truth_value:
      return operation | met;
    case broken::axis_name_is_malformed:
    case broken::axis_is_not_in_mesh:
    case broken::extent_is_not_divisible:
    case broken::blocks_do_not_divide_extent:
    case broken::manual_axis_is_used:
      return mesh;
    case broken::axis_is_used_twice:
    case broken::spec_is_malformed:
    case broken::grain_is_malformed:
    case broken::manual_axis_is_left:
      return spec;
    case broken::reshard_would_create_partial:
      return partial;
    case broken::partial_axis_also_splits:
      return spec | partial;
    case broken::pending_axes_are_out_of_order:
      return mesh | partial;
    case broken::rank_differs_from_spec:
      return spec | extents;
    default:
      return ~0U;
  }
}

/// Those among `Known`: the one, or several as `types`.
template <unsigned Bits, class Shown, class... Known>
struct types_among {
  using type = Shown;
};
template <unsigned Bits, class One>
struct types_among<Bits, types<One>> {
  using type = One;
};
template <unsigned Bits, class... Shown, class First, class... Rest>
struct types_among<Bits, types<Shown...>, First, Rest...>
    : types_among<(Bits >> 1U),
                  std::conditional_t<(Bits & 1U) != 0, types<Shown..., First>, types<Shown...>>,
                  Rest...> {};

template <auto Rule, class About, auto... Facts>
[[nodiscard]] constexpr refused<Rule, About, Facts...> refused_with(facts<Facts...>) noexcept {
  return {};
}

/// The answer to a verdict, which is what `verdict_of()` gives: a function without a state, since
/// values with arrays are no template arguments. `Known` are the types that the error may show, and
/// `More` follows the facts of the verdict.
template <class... Known, class Verdict, auto... More>
[[nodiscard]] constexpr auto answer_to(Verdict verdict_of, facts<More...> more = {}) noexcept {
  constexpr diagnosis verdict = verdict_of();
  if constexpr (verdict.ok())
    return allowed<>{};
  else
    return refused_with<verdict.rule,
                        typename types_among<types_shown(verdict.rule), types<>, Known...>::type>(
        place_of<verdict.operand, verdict.dim>() +
        name_shown<to_fixed_string<verdict.axis.size()>(verdict.axis)>() +
        sizes_of<text_of(verdict.rule).sizes, verdict.have, verdict.want>() + more);
}

}  // namespace detail

}  // namespace shardwise
