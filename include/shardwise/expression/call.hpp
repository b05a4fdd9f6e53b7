// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/judge.hpp"

#include <type_traits>

namespace shardwise {

/// What an operation gives that breaks a rule, `Broken`. That is instantiated with this class,
/// where the program needs it: so compilers point at the program's own line. (In the same class
/// clang would take it for invalid, and say more.)
template <class Broken = char>
struct refused_value;
/// What an operation on the result of a refused one gives: the one error has been said, and what
/// follows takes this for whatever it needs, in silence.
template <>
struct refused_value<> {
  // Declared and never defined: nothing runs in a program that breaks a rule.
  template <class T>
  operator T() const;
  template <class... I>
  refused_value operator()(const I&...) const;
  refused_value value() const;
  template <class Out>
  friend Out& operator<<(Out& out, const refused_value&);
};
template <class Broken>
struct refused_value : refused_value<> {
  static_assert(sizeof(Broken) > 0);
};

namespace detail {

/// What a function gives whose judge answered `Judged`: `type`, and `value()` if it is refused.
template <class Judged, bool Ok = Judged::ok>
struct given {
  static constexpr bool is_refusal = false;
  using judged = Judged;
  using type = typename Judged::type;
};
template <class Judged>
struct given<Judged, false> {
  static constexpr bool is_refusal = true;
  using judged = Judged;
#if defined(__clang__)
  // clang completes the class that a constexpr function returns inside of the function, except
  // behind a reference; g++ what a function names, but what it returns first in the caller.
  using type = const refused_value<typename Judged::type>&;
  [[nodiscard]] static constexpr type value() noexcept { return made; }

 private:
  static const refused_value<typename Judged::type> made;
};
template <class Judged>
const refused_value<typename Judged::type> given<Judged, false>::made{};
#else
  using type = refused_value<typename Judged::type>;
  [[nodiscard]] static constexpr type value() noexcept { return {}; }
};
#endif

/// What a type is to an operation: anything; a tensor type that is refused itself, and so is not to
/// be instantiated; a tensor whose layout is a value, or a type; the result of a refused operation.
/// Numbers, since comparing enumerators would ask the operators of tensors, which ask for these.
struct operand_kind {
  static constexpr int other = 0, refused_tensor = 1, valued = 2, typed = 3, refused_result = 4;
};
template <class X>
inline constexpr int operand_kind_of = requires {
  typename X::domain;
}
? operand_kind::typed : requires { typename X::value_domain; }
? operand_kind::valued : operand_kind::other;
template <class Broken>
inline constexpr int operand_kind_of<refused_value<Broken>> = operand_kind::refused_result;

}  // namespace detail

/// Operands of which one is the result of a refused operation.
template <class... X>
concept AnyRefused = (... || (detail::operand_kind_of<std::remove_cvref_t<X>> ==
                              detail::operand_kind::refused_result));

namespace detail {

/// Judges a call: a class whose `judge<X...>()` answers `allowed` or `refused`, and whose
/// `apply(x...)` makes what is allowed. What follows a refusal passes it on.
template <class Call, class... X>
[[nodiscard]] constexpr auto judge_operands() noexcept {
  if constexpr (AnyRefused<X...>)
    return refused<>{};
  else
    return Call::template judge<X...>();
}
/// What a call gives. Calls that programs make often specialise it for what is legal by the types
/// alone: no judge is asked then, which would cost the compiler more.
template <class Call, class... X>
struct outcome : given<decltype(judge_operands<Call, X...>())> {};
template <class Call, class... X>
using outcome_of = typename outcome<Call, X...>::type;

template <class Call, class... X>
[[nodiscard]] constexpr outcome_of<Call, X...> carry_out(X&&... x) {
  if constexpr (outcome<Call, X...>::is_refusal)
    return outcome<Call, X...>::value();
  else
    return Call::apply(static_cast<X&&>(x)...);
}

/// The answer of a judge that a rule is broken. (Results may have members called `ok` too, which
/// are no constants.)
template <class Judged>
concept Refusal = std::is_same_v<std::bool_constant<Judged::ok>, std::false_type>;

/// The outcome of a tentative call: its result, or the error of the refusal that it returned
/// instead. What a program calls may find that several functions further in, and reports it by its
/// own return type.
template <class Tried>
struct given_of {
  static constexpr bool is_refusal = false;
  using type = Tried;
};
template <Refusal Judged>
struct given_of<Judged> : given<Judged> {};

}  // namespace detail

}  // namespace shardwise
