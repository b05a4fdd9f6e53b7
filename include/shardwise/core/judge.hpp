// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/broken_rule.hpp"

#include <type_traits>

namespace shardwise {

/// The answer if no rule is broken: the type of the result.
template <class Made = char>
struct allowed {
  static constexpr bool ok = true;
  using type = Made;
};

/// The answer if a rule is broken. `type` names the broken rule without instantiating it, so that
/// the error points at the class or function that does. Functions do so by `decltype(type{})`: with
/// `sizeof`, clang would add that they are not constant expressions.
template <auto Rule = violation::nothing, class About = types<>, auto... Facts>
struct refused {
  static constexpr bool ok = false;
  using type = broken_rule<Rule, About, Facts...>;
};
/// The answer if the compiler has reported the error already.
template <>
struct refused<> {
  static constexpr bool ok = false;
  using type = char;
};

namespace detail {

/// Which of the types known to a judge the error of a rule shows, as bits. For a layout: the mesh,
/// the spec, the partial, and the extents of the tensor. For an operation: the operation itself,
/// the actual element type, and the required one. Types without a bit have nothing to do with the
/// rule.
[[nodiscard]] constexpr unsigned types_shown(violation rule) noexcept {
  constexpr unsigned mesh = 1, spec = 2, partial = 4, extents = 8;
  constexpr unsigned operation = 1, met = 2;
  struct row {
    violation rule;
    unsigned shown;
  };
  constexpr row rows[] = {{violation::mesh_has_too_many_axes, 0},
                          {violation::axis_name_is_malformed, mesh},
                          {violation::axis_is_not_in_mesh, mesh},
                          {violation::axis_is_used_twice, spec},
                          {violation::spec_is_malformed, spec},
                          {violation::grain_is_malformed, spec},
                          {violation::rank_is_too_high, 0},
                          {violation::rank_differs_from_spec, spec | extents},
                          {violation::extent_is_negative, 0},
                          {violation::tensor_is_too_large, 0},
                          {violation::extent_is_not_divisible, mesh},
                          {violation::blocks_do_not_divide_extent, mesh},
                          {violation::partial_axis_also_splits, spec | partial},
                          {violation::pending_axes_are_out_of_order, mesh | partial},
                          {violation::manual_axis_is_used, mesh},
                          {violation::operand_is_no_number, operation},
                          {violation::operand_is_no_truth_value, operation | met},
                          {violation::operand_is_no_index, operation | met},
                          {violation::reshard_would_create_partial, partial},
                          {violation::manual_axis_is_left, spec}};
  for (const row& one : rows)
    if (one.rule == rule) return one.shown;
  return ~0U;
}

/// The selected types among `Known`: the type itself if there is one, else `types` of all of them.
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

/// The answer to the verdict that `verdict_of()` returns. It is a stateless function because g++ 12
/// does not tell apart values with arrays as template arguments. `Known` are the types that the
/// error may show, and `More` are appended to the facts of the verdict.
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
