// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"

#include <utility>

namespace shardwise {

namespace functions {

struct sqrt : fractional_function<"sqrt"> {
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent() * 0.5 / at.result()); }
};
struct exp : fractional_function<"exp"> {
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent() * at.result()); }
};
struct log : fractional_function<"log"> {
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent() / at.operand(0)); }
};
struct tanh : fractional_function<"tanh"> {
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * (1 - elementwise<square>(at.result())));
  }
};
struct sigmoid : fractional_function<"sigmoid", 4> {
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * (at.result() * (1 - at.result())));
  }
};
/// The approximation with tanh: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
struct gelu : fractional_function<"gelu", 9> {
  using emits = operations<pointwise<tanh>, pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) {
    constexpr double scale = 0.79788456080286536, cubic = 0.044715;
    // Outside of these bounds the slope is 0 or 1, and the square of x may overflow, which would
    // give infinity times 0.
    constexpr double bound = 16;
    const auto of = at.operand(0);
    const auto x =
        elementwise<maximum>(elementwise<minimum>(of, at.number(bound, of)), at.number(-bound, of));
    const auto xx = elementwise<square>(x);
    const auto t = elementwise<tanh>(x * (xx * cubic + 1) * scale);
    const auto slope = (xx * (3 * cubic) + 1) * scale;  // of the argument of tanh
    at.give(0, at.cotangent() * ((t + 1) * 0.5 + x * 0.5 * (1 - elementwise<square>(t)) * slope));
  }
};

}  // namespace functions

template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::sqrt, A, Given...> sqrt(
    A&& a, const Given&... given) {
  return elementwise<functions::sqrt>(std::forward<A>(a), given...);
}
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::exp, A, Given...> exp(
    A&& a, const Given&... given) {
  return elementwise<functions::exp>(std::forward<A>(a), given...);
}
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::log, A, Given...> log(
    A&& a, const Given&... given) {
  return elementwise<functions::log>(std::forward<A>(a), given...);
}
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::tanh, A, Given...> tanh(
    A&& a, const Given&... given) {
  return elementwise<functions::tanh>(std::forward<A>(a), given...);
}
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::sigmoid, A, Given...> sigmoid(
    A&& a, const Given&... given) {
  return elementwise<functions::sigmoid>(std::forward<A>(a), given...);
}
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::gelu, A, Given...> gelu(
    A&& a, const Given&... given) {
  return elementwise<functions::gelu>(std::forward<A>(a), given...);
}

}  // namespace shardwise
