// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/judge.hpp"

#include <type_traits>

namespace shardwise {

/// The result type of an invalid operation with two or three results, so that programs may use
/// structured bindings. `Broken` is instantiated together with this class.
template <class Broken>
struct refused_pair : refused_value {
  static_assert(sizeof(Broken) > 0);
  refused_value first, second;
};
template <class Broken>
struct refused_triple : refused_value {
  static_assert(sizeof(Broken) > 0);
  refused_value first, second, third;
};

namespace internal {

/// The number of results of a call, up to three.
template <class Call>
inline constexpr int result_count = 1;

/// What a call returns instead of its results after an error.
template <class Judged, int Results>
struct refused_outcome {
  using type = typename Judged::type;
};
template <class Judged>
struct refused_outcome<Judged, 2> {
  using type = refused_pair<typename Judged::type>;
};
template <class Judged>
struct refused_outcome<Judged, 3> {
  using type = refused_triple<typename Judged::type>;
};

/// The result of a function whose judge returned `Judged`: `type`, and `value()` if the call is
/// invalid.
template <class Judged, int Results = 1, bool Ok = Judged::ok>
struct given {
  static constexpr bool is_refusal = false;
  using judged = Judged;
  using type = typename Judged::type;
};
template <class Judged, int Results>
struct given<Judged, Results, false> {
  static constexpr bool is_refusal = true;
  using judged = Judged;
  using results = typename refused_outcome<Judged, Results>::type;
#if defined(__clang__)
  // clang completes the return type of a constexpr function inside the function, unless it is a
  // reference; g++ completes the types that a function uses, but its return type first in the
  // caller.
  using type = const results&;
  [[nodiscard]] static constexpr type value() noexcept { return made; }

 private:
  static const results made;
};
template <class Judged, int Results>
const typename given<Judged, Results, false>::results given<Judged, Results, false>::made{};
#else
  using type = results;
  [[nodiscard]] static constexpr type value() noexcept { return {}; }
};
#endif

/// The kind of a type as an operand: not a tensor; a tensor type that is invalid itself, and must
/// not be instantiated; a tensor with a run-time or a compile-time layout; the result of an invalid
/// operation. These are numbers, since comparing enumerators would consider the operators of
/// tensors, which depend on them.
struct operand_kind {
  static constexpr int other = 0, refused_tensor = 1, valued = 2, typed = 3, refused_result = 4;
};
template <class X>
inline constexpr int operand_kind_of = requires {
  typename X::domain;
}
? operand_kind::typed : requires { typename X::value_domain; }
? operand_kind::valued : operand_kind::other;
template <>
inline constexpr int operand_kind_of<refused_value> = operand_kind::refused_result;
template <auto Rule, class About, auto... Facts>
inline constexpr int operand_kind_of<broken_rule<Rule, About, Facts...>> =
    operand_kind::refused_result;
template <class Broken>
inline constexpr int operand_kind_of<refused_pair<Broken>> = operand_kind::refused_result;
template <class Broken>
inline constexpr int operand_kind_of<refused_triple<Broken>> = operand_kind::refused_result;

}  // namespace internal

/// Operands of which at least one is the result of an invalid operation.
template <class... X>
concept AnyRefused = (... || (internal::operand_kind_of<std::remove_cvref_t<X>> ==
                              internal::operand_kind::refused_result));

namespace internal {

/// Checks a call: a class whose `judge<X...>()` returns `allowed` or `refused`, and whose
/// `apply(x...)` computes a valid call. An error among the operands is passed on.
template <class Call, class... X>
[[nodiscard]] constexpr auto judge_operands() noexcept {
  if constexpr (AnyRefused<X...>)
    return refused<>{};
  else
    return Call::template judge<X...>();
}
/// The result of a call. Frequent calls specialise it for operands whose types alone make them
/// valid: then no judge is instantiated, which saves compile time.
template <class Call, class... X>
struct outcome : given<decltype(judge_operands<Call, X...>()), result_count<Call>> {};
template <class Call, class... X>
using outcome_of = typename outcome<Call, X...>::type;

template <class Call, class... X>
[[nodiscard]] constexpr outcome_of<Call, X...> carry_out(X&&... x) {
  if constexpr (outcome<Call, X...>::is_refusal)
    return outcome<Call, X...>::value();
  else
    return Call::apply(static_cast<X&&>(x)...);
}

/// The verdict on a call that is a part of another one.
template <class Call, class... X>
[[nodiscard]] constexpr auto judge_part() noexcept {
  using part = outcome<Call, X...>;
  if constexpr (part::is_refusal)
    return typename part::judged{};
  else
    return allowed<typename part::type>{};
}

/// Reports an error where it is found, so that callers need not check the result.
template <class Judged>
[[nodiscard]] constexpr auto report() {
  using reported [[maybe_unused]] = decltype(typename Judged::type{});
  return refused_value{};
}

/// The verdict of a judge that a rule is broken. (Results may have members called `ok` too, which
/// are not constants.)
template <class Judged>
concept Refusal = std::is_same_v<std::bool_constant<Judged::ok>, std::false_type>;

/// The outcome of a tentative call: its result, or the error that it returned. A function may
/// detect the error several calls deeper, and reports it by its own return type.
template <class Tried>
struct given_of {
  static constexpr bool is_refusal = false;
  using type = Tried;
};
template <Refusal Judged>
struct given_of<Judged> : given<Judged> {};

}  // namespace internal

}  // namespace shardwise
