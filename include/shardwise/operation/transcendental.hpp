// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

struct sqrt : fractional_function<"sqrt"> {};
struct exp : fractional_function<"exp"> {};
struct log : fractional_function<"log"> {};
struct tanh : fractional_function<"tanh"> {};
struct sigmoid : fractional_function<"sigmoid", 4> {};
/// The tanh form: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
struct gelu : fractional_function<"gelu", 9> {};

}  // namespace functions

template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::sqrt, A> sqrt(A&& a) {
  return elementwise<functions::sqrt>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::exp, A> exp(A&& a) {
  return elementwise<functions::exp>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::log, A> log(A&& a) {
  return elementwise<functions::log>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::tanh, A> tanh(A&& a) {
  return elementwise<functions::tanh>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::sigmoid, A> sigmoid(A&& a) {
  return elementwise<functions::sigmoid>(std::forward<A>(a));
}
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::gelu, A> gelu(A&& a) {
  return elementwise<functions::gelu>(std::forward<A>(a));
}

}  // namespace shardwise
