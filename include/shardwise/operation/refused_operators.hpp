// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operand.hpp"

namespace shardwise {

namespace detail {

/// The operands of an operator that tensors do not have: at least one is a tensor, and the others
/// are numbers.
template <class... X>
concept TensorsAndNumbers = ElementwiseOperands<X...> && requires {
  requires(... && (EitherOperand<X> || Scalar<X>));
};

/// The call of such an operator, and of the function to call instead.
template <fixed_string Instead>
struct refused_operator {
  template <class...>
  [[nodiscard]] static constexpr auto judge() noexcept {
    return refused<misuse::tensor_is_not_a_number, of_types<>, suggested(Instead)>{};
  }
};
using no_equality = refused_operator<"equal(a, b)">;
using no_inequality = refused_operator<"not_equal(a, b)">;
using no_modulo = refused_operator<"fmod(a, b) or remainder(a, b)">;
using no_ampersand = refused_operator<"logical_and or bitwise_and(a, b)">;
using no_bar = refused_operator<"logical_or or bitwise_or(a, b)">;
using no_caret = refused_operator<"bitwise_xor, logical_xor or pow">;
using no_shift_to_left = refused_operator<"left_shift(a, b)">;
using no_shift_to_right = refused_operator<"right_shift(a, b)">;
using no_tilde = refused_operator<"logical_not or bitwise_not(a)">;
using no_and = refused_operator<"logical_and(a, b)">;
using no_or = refused_operator<"logical_or(a, b)">;
using no_not = refused_operator<"logical_not(a)">;

}  // namespace detail

/// Errors: in C++, `==` and `!=` return one `bool`, and algorithms require them to. Other operators
/// mean different things in different languages.
template <class A, class B>
  requires ElementwiseOperands<A, B>
constexpr internal::outcome_of<detail::no_equality, A, B> operator==(A&& a, B&& b) {
  return internal::carry_out<detail::no_equality>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires ElementwiseOperands<A, B>
constexpr internal::outcome_of<detail::no_inequality, A, B> operator!=(A&& a, B&& b) {
  return internal::carry_out<detail::no_inequality>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_modulo, A, B> operator%(A&& a, B&& b) {
  return internal::carry_out<detail::no_modulo>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_ampersand, A, B> operator&(A&& a, B&& b) {
  return internal::carry_out<detail::no_ampersand>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_bar, A, B> operator|(A&& a, B&& b) {
  return internal::carry_out<detail::no_bar>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_caret, A, B> operator^(A&& a, B&& b) {
  return internal::carry_out<detail::no_caret>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_shift_to_left, A, B> operator<<(A&& a, B&& b) {
  return internal::carry_out<detail::no_shift_to_left>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_shift_to_right, A, B> operator>>(A&& a, B&& b) {
  return internal::carry_out<detail::no_shift_to_right>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A>
  requires detail::TensorsAndNumbers<A>
constexpr internal::outcome_of<detail::no_tilde, A> operator~(A&& a) {
  return internal::carry_out<detail::no_tilde>(static_cast<A&&>(a));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_and, A, B> operator&&(A&& a, B&& b) {
  return internal::carry_out<detail::no_and>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A, class B>
  requires detail::TensorsAndNumbers<A, B>
constexpr internal::outcome_of<detail::no_or, A, B> operator||(A&& a, B&& b) {
  return internal::carry_out<detail::no_or>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class A>
  requires detail::TensorsAndNumbers<A>
constexpr internal::outcome_of<detail::no_not, A> operator!(A&& a) {
  return internal::carry_out<detail::no_not>(static_cast<A&&>(a));
}

}  // namespace shardwise
