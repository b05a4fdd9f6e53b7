// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// 1 where the operands are equal, 0 elsewhere; those that follow compare alike.
struct equal : elementwise_function<"equal"> {};
struct less : elementwise_function<"less"> {};
struct less_equal : elementwise_function<"less_equal"> {};
struct greater : elementwise_function<"greater"> {};
struct greater_equal : elementwise_function<"greater_equal"> {};
/// The second operand where the first is not zero, the third elsewhere.
struct where : elementwise_function<"where"> {};

}  // namespace functions

/// 1 where two values are equal, 0 elsewhere.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::equal, A, B> equal(A&& a, B&& b) {
  return elementwise<functions::equal>(std::forward<A>(a), std::forward<B>(b));
}
/// 1 where the first value is less than the second, 0 elsewhere.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::less, A, B> less(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
/// Comparisons give 1 where they hold and 0 elsewhere, in the type of the elements: `x * (x > 0)`.
/// With NaN none holds.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::less, A, B> operator<(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::less_equal, A, B> operator<=(A&& a, B&& b) {
  return elementwise<functions::less_equal>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::greater, A, B> operator>(A&& a, B&& b) {
  return elementwise<functions::greater>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::greater_equal, A, B> operator>=(A&& a,
                                                                                       B&& b) {
  return elementwise<functions::greater_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// C++ takes `==` and `!=` for one answer, which algorithms ask for too.
template <class A, class B>
  requires ElementwiseOperands<A, B>
bool operator==(const A&, const B&) = delete;  // equal(a, b) is 1 or 0 for each element
template <class A, class B>
  requires ElementwiseOperands<A, B>
bool operator!=(const A&, const B&) = delete;  // 1 - equal(a, b) is 1 or 0 for each element
/// The second value where the first is not zero, the third elsewhere.
template <class A, class B, class C>
[[nodiscard]] constexpr detail::of_elements<functions::where, A, B, C> where(A&& a, B&& b, C&& c) {
  return elementwise<functions::where>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c));
}

}  // namespace shardwise
