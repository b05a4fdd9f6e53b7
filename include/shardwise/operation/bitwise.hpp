// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Base of functions on the bits of integers.
template <fixed_string Symbol>
struct bitwise : elementwise_function<Symbol> {
  static constexpr bool of_integers = true;
  static constexpr bool on_elements = true;
};
struct bitwise_and : bitwise<"bitwise_and"> {};
struct bitwise_or : bitwise<"bitwise_or"> {};
struct bitwise_xor : bitwise<"bitwise_xor"> {};
struct bitwise_not : bitwise<"bitwise_not"> {};
struct left_shift : bitwise<"left_shift"> {};
struct right_shift : bitwise<"right_shift"> {};

}  // namespace functions

/// Returns the bits that are set in both integers. For `bool`, use `logical_and` and similar
/// functions.
///
///     auto low = bitwise_and(keys, 0xFF);
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::bitwise_and, A, B, Given...> bitwise_and(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::bitwise_and>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the bits that are set in at least one of the integers.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::bitwise_or, A, B, Given...> bitwise_or(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::bitwise_or>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the bits that are set in exactly one of the integers.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::bitwise_xor, A, B, Given...> bitwise_xor(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::bitwise_xor>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the bits that are not set.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::bitwise_not, A, Given...> bitwise_not(
    A&& a, const Given&... given) {
  return elementwise<functions::bitwise_not>(std::forward<A>(a), given...);
}
/// Shifts bits to the left; the result is 0 if the shift is negative, or the width or more.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::left_shift, A, B, Given...> left_shift(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::left_shift>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Shifts bits to the right, filling with copies of the sign bit; the result consists of sign bits
/// if the shift is negative, or the width or more.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::right_shift, A, B, Given...> right_shift(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::right_shift>(std::forward<A>(a), std::forward<B>(b), given...);
}

}  // namespace shardwise
