// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Base of functions on `bool`.
template <fixed_string Symbol>
struct logical : elementwise_function<Symbol> {
  static constexpr bool of_truth_values = true;
  static constexpr bool on_elements = true;
};
struct logical_and : logical<"logical_and"> {};
struct logical_or : logical<"logical_or"> {};
struct logical_xor : logical<"logical_xor"> {};
struct logical_not : logical<"logical_not"> {};

}  // namespace functions

/// Returns true where both operands are true.
///
///     auto inside = logical_and(x > -1, x < 1);
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::logical_and, A, B, Given...> logical_and(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::logical_and>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where at least one operand is true.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::logical_or, A, B, Given...> logical_or(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::logical_or>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where exactly one operand is true.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::logical_xor, A, B, Given...> logical_xor(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::logical_xor>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where the operand is false.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::logical_not, A, Given...> logical_not(
    A&& a, const Given&... given) {
  return elementwise<functions::logical_not>(std::forward<A>(a), given...);
}

}  // namespace shardwise
