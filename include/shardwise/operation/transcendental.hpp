// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"

#include <limits>
#include <utility>

namespace shardwise {

namespace detail {

/// Returns a value of a gradient limited to [low, high], outside of which the slope is constant: an
/// infinity, or a square that overflows, would be a factor of 0. The gradient emits `maximum` and
/// `minimum`.
[[nodiscard]] constexpr gradient_value bounded(auto& at, const gradient_value& x, double low,
                                               double high) {
  const auto below = elementwise<functions::minimum>(x, at.number(high, x));
  return elementwise<functions::maximum>(below, at.number(low, x));
}

/// Returns a value of a gradient with infinities replaced by the largest numbers of its type.
[[nodiscard]] constexpr gradient_value finite(auto& at, const gradient_value& x) {
  const auto largest = [&]() -> double {
    switch (x.tensor().type) {
      case element::f64:
        return std::numeric_limits<double>::max();
      case element::f16:
        return static_cast<double>(std::numeric_limits<float16>::max());
      case element::bf16:
        return static_cast<double>(std::numeric_limits<bfloat16>::max());
      default:
        return static_cast<double>(std::numeric_limits<float>::max());
    }
  };
  return bounded(at, x, -largest(), largest());
}

}  // namespace detail

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
  using emits = emitted_operations<pointwise<tanh>, pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) {
    constexpr double scale = 0.79788456080286536, cubic = 0.044715;
    const auto x = detail::bounded(at, at.operand(0), -16, 16);
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
