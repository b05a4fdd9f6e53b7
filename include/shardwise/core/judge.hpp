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
template <auto Rule = violation::nothing, class About = of_types<>, auto... Facts>
struct refused {
  static constexpr bool ok = false;
  using type = broken_rule<Rule, About, Facts...>;
};
/// The answer if the compiler has reported the error already.
template <>
struct refused<> {
  static constexpr bool ok = false;
  using type = refused_value;
};

namespace detail {

/// The selected types among `Known`: the type itself if there is one, else all of them.
template <unsigned Bits, class Shown, class... Known>
struct types_among {
  using type = Shown;
};
template <unsigned Bits, class One>
struct types_among<Bits, of_types<One>> {
  using type = One;
};
template <unsigned Bits, class... Shown, class First, class... Rest>
struct types_among<Bits, of_types<Shown...>, First, Rest...>
    : types_among<
          (Bits >> 1U),
          std::conditional_t<(Bits & 1U) != 0, of_types<Shown..., First>, of_types<Shown...>>,
          Rest...> {};

}  // namespace detail

namespace internal {

/// The verdict of the first judge that reports an error, or of the last one.
template <class First, class... Rest>
struct first_refusal {
  using type = First;
};
template <class First, class Second, class... Rest>
requires First::ok struct first_refusal<First, Second, Rest...> : first_refusal<Second, Rest...> {
};

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
    return refused_with<verdict.rule, typename types_among<text_of(verdict.rule).shown, of_types<>,
                                                           Known...>::type>(
        place_shown<operand_at, verdict.operand>() + place_shown<dimension_at, verdict.dim>() +
        text_shown<called>([] { return Verdict{}().axis; }) +
        sizes_of<text_of(verdict.rule).sizes, verdict.have, verdict.want>() + more);
}

}  // namespace internal

}  // namespace shardwise
