// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// What it is given: a copy that fuses.
struct identity : elementwise_function<"identity", linearity::additive, 0> {};
struct negate : elementwise_function<"negate", linearity::additive> {};
struct add : elementwise_function<"+", linearity::additive> {};
struct subtract : elementwise_function<"-", linearity::additive> {};
struct multiply : elementwise_function<"*", linearity::multilinear> {};
/// Quotients of whole numbers are cut, so those of terms do not add up to that of the sum.
struct divide : elementwise_function<"/", linearity::first_operand> {
  [[nodiscard]] static constexpr linearity law_for(element type) noexcept {
    return has_fractions(type) ? linearity::first_operand : linearity::nonlinear;
  }
};
struct maximum : elementwise_function<"maximum", linearity::max_of> {};
struct minimum : elementwise_function<"minimum", linearity::min_of> {};
struct abs : elementwise_function<"abs"> {};
struct square : elementwise_function<"square"> {};
struct relu : elementwise_function<"relu"> {};

}  // namespace functions

template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::add, A, B> operator+(A&& a, B&& b) {
  return elementwise<functions::add>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::subtract, A, B> operator-(A&& a, B&& b) {
  return elementwise<functions::subtract>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::multiply, A, B> operator*(A&& a, B&& b) {
  return elementwise<functions::multiply>(std::forward<A>(a), std::forward<B>(b));
}
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::divide, A, B> operator/(A&& a, B&& b) {
  return elementwise<functions::divide>(std::forward<A>(a), std::forward<B>(b));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::negate, A> operator-(A&& a) {
  return elementwise<functions::negate>(std::forward<A>(a));
}

/// The larger of two values, element by element.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::maximum, A, B> maximum(A&& a, B&& b) {
  return elementwise<functions::maximum>(std::forward<A>(a), std::forward<B>(b));
}
/// The smaller of two values, element by element.
template <class A, class B>
[[nodiscard]] constexpr detail::of_elements<functions::minimum, A, B> minimum(A&& a, B&& b) {
  return elementwise<functions::minimum>(std::forward<A>(a), std::forward<B>(b));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::abs, A> abs(A&& a) {
  return elementwise<functions::abs>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::square, A> square(A&& a) {
  return elementwise<functions::square>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::relu, A> relu(A&& a) {
  return elementwise<functions::relu>(std::forward<A>(a));
}

}  // namespace shardwise
