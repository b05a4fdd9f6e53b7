// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/logical.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Base of comparisons of two operands; their results are `bool`.
template <fixed_string Symbol>
struct comparison : elementwise_function<Symbol> {
  static constexpr bool compares = true;
  static constexpr element result = element::boolean;
};
struct equal : comparison<"equal"> {};
/// True also where an operand is NaN.
struct not_equal : comparison<"not_equal"> {};
struct less : comparison<"less"> {};
struct less_equal : comparison<"less_equal"> {};
struct greater : comparison<"greater"> {};
struct greater_equal : comparison<"greater_equal"> {};
/// Returns the second operand where the first is true, and the third elsewhere.
struct where : elementwise_function<"where"> {
  static constexpr bool chooses = true;
  using emits = emitted_operations<pointwise<logical_not>>;
  static constexpr void gradient(auto& at) {
    const auto chosen = at.operand(0);
    at.give(1, shardwise::masked(at.cotangent(), chosen));
    at.give(2, shardwise::masked(at.cotangent(), elementwise<logical_not>(chosen)));
  }
};

}  // namespace functions

/// Returns true where two values are equal. Comparisons with NaN are false.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::equal, A, B, Given...> equal(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::equal>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where two values differ, also where one of them is NaN.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::not_equal, A, B, Given...> not_equal(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::not_equal>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where the first value is less than the second.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::less, A, B, Given...> less(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where the first value is less than the second or equal to it.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::less_equal, A, B, Given...> less_equal(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::less_equal>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where the first value is greater than the second.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::greater, A, B, Given...> greater(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::greater>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns true where the first value is greater than the second or equal to it.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::greater_equal, A, B, Given...>
greater_equal(A&& a, B&& b, const Given&... given) {
  return elementwise<functions::greater_equal>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Comparisons return tensors of `bool`: `where(x > 0, x, 0.1F * x)`, `cast<float>(x > y)`.
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::less, A, B> operator<(A&& a, B&& b) {
  return elementwise<functions::less>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::less_equal, A, B> operator<=(A&& a,
                                                                                      B&& b) {
  return elementwise<functions::less_equal>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::greater, A, B> operator>(A&& a, B&& b) {
  return elementwise<functions::greater>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::greater_equal, A, B> operator>=(A&& a,
                                                                                         B&& b) {
  return elementwise<functions::greater_equal>(std::forward<A>(a), std::forward<B>(b));
}
/// Returns the second value where the condition, a tensor of `bool`, is true, and the third
/// elsewhere.
template <class A, class B, class C, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::where, A, B, C, Given...> where(
    A&& a, B&& b, C&& c, const Given&... given) {
  return elementwise<functions::where>(std::forward<A>(a), std::forward<B>(b), std::forward<C>(c),
                                       given...);
}

}  // namespace shardwise
