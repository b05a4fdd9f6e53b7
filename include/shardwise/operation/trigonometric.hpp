// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/stop_gradient.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <utility>

namespace shardwise {

namespace detail {

/// Returns `1 - x^2` in a gradient, which emits `subtract_constant` and `stop_gradient`. Its value
/// is a product of exact differences, since near 1 a rounded square would lose digits; its slope is
/// that of the square, since those of the differences would cancel near 0.
[[nodiscard]] constexpr gradient_value one_minus_square(const gradient_value& x) {
  const auto square = elementwise<functions::square>(x);
  return elementwise<functions::stop_gradient>((1 - x) * (x + 1)) -
         elementwise<functions::subtract_constant>(square, square);
}

/// Two values of a gradient, divided by the larger magnitude: squares of the quotients neither
/// overflow, nor are both 0. What is computed with this size must not depend on it, since it is a
/// constant for gradients.
struct scaled_pair {
  /// What it emits.
  using emits =
      emitted_operations<pointwise<functions::abs>, pointwise<functions::maximum>,
                         pointwise<functions::minimum>, pointwise<functions::stop_gradient>>;
  gradient_value size, first, second;

  [[nodiscard]] static constexpr scaled_pair of(auto& at, const gradient_value& a,
                                                const gradient_value& b) {
    const auto first = finite(at, a), second = finite(at, b);
    const auto size = elementwise<functions::stop_gradient>(elementwise<functions::maximum>(
        elementwise<functions::abs>(first), elementwise<functions::abs>(second)));
    return {size, first / size, second / size};
  }
  [[nodiscard]] constexpr gradient_value sum_of_squares() const {
    return elementwise<functions::square>(first) + elementwise<functions::square>(second);
  }
};

}  // namespace detail

namespace functions {

struct cos;
struct cosh;
struct sin : fractional_function<"sin", 10> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<cos>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<cos>(at.operand(0)));
  }
};
struct cos : fractional_function<"cos", 10> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sin>>;
  static constexpr void gradient(auto& at) {
    at.give(0, -(at.cotangent() * elementwise<sin>(at.operand(0))));
  }
};
struct tan : fractional_function<"tan", 12> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * (elementwise<square>(at.result()) + 1));
  }
};
struct asin : fractional_function<"asin", 10> {
  static constexpr bool on_elements = true;
  using emits =
      emitted_operations<pointwise<sqrt>, pointwise<subtract_constant>, pointwise<stop_gradient>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() / elementwise<sqrt>(detail::one_minus_square(at.operand(0))));
  }
};
struct acos : fractional_function<"acos", 10> {
  static constexpr bool on_elements = true;
  using emits = asin::emits;
  static constexpr void gradient(auto& at) {
    at.give(0, -(at.cotangent() / elementwise<sqrt>(detail::one_minus_square(at.operand(0)))));
  }
};
struct atan : fractional_function<"atan", 10> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) {
    // Not a square, whose slope could overflow.
    const auto x = detail::finite(at, at.operand(0));
    at.give(0, at.cotangent() / (x * x + 1));
  }
};
struct atan2 : fractional_function<"atan2", 12> {
  static constexpr bool on_elements = true;
  using emits = detail::scaled_pair::emits;
  static constexpr void gradient(auto& at) {
    const auto point = detail::scaled_pair::of(at, at.operand(0), at.operand(1));
    const auto scaled = at.cotangent() / point.size / point.sum_of_squares();
    at.give(0, scaled * point.second);
    at.give(1, -(scaled * point.first));
  }
};
struct sinh : fractional_function<"sinh", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<cosh>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<cosh>(at.operand(0)));
  }
};
struct cosh : fractional_function<"cosh", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sinh>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<sinh>(at.operand(0)));
  }
};
struct asinh : fractional_function<"asinh", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sqrt>, pointwise<abs>, pointwise<maximum>,
                                   pointwise<minimum>, pointwise<stop_gradient>>;
  static constexpr void gradient(auto& at) {
    const auto x = at.operand(0);
    const auto scaled = detail::scaled_pair::of(at, x, at.number(1, x));
    at.give(0, at.cotangent() * scaled.second / elementwise<sqrt>(scaled.sum_of_squares()));
  }
};
struct acosh : fractional_function<"acosh", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sqrt>>;
  static constexpr void gradient(auto& at) {
    const auto x = at.operand(0);
    // Not the root of the product, which would overflow.
    at.give(0, at.cotangent() / elementwise<sqrt>(x + -1) / elementwise<sqrt>(x + 1));
  }
};
struct atanh : fractional_function<"atanh", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<subtract_constant>, pointwise<stop_gradient>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() / detail::one_minus_square(at.operand(0)));
  }
};

}  // namespace functions

/// Returns the sine of an angle in radians; NaN for infinities.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::sin, A, Given...> sin(
    A&& a, const Given&... given) {
  return elementwise<functions::sin>(std::forward<A>(a), given...);
}
/// Returns the cosine of an angle in radians; NaN for infinities.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::cos, A, Given...> cos(
    A&& a, const Given&... given) {
  return elementwise<functions::cos>(std::forward<A>(a), given...);
}
/// Returns the tangent of an angle in radians; NaN for infinities.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::tan, A, Given...> tan(
    A&& a, const Given&... given) {
  return elementwise<functions::tan>(std::forward<A>(a), given...);
}
/// Returns the arcsine, from -pi/2 to pi/2; NaN outside [-1, 1].
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::asin, A, Given...> asin(
    A&& a, const Given&... given) {
  return elementwise<functions::asin>(std::forward<A>(a), given...);
}
/// Returns the arccosine, from 0 to pi; NaN outside [-1, 1].
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::acos, A, Given...> acos(
    A&& a, const Given&... given) {
  return elementwise<functions::acos>(std::forward<A>(a), given...);
}
/// Returns the arctangent, from -pi/2 to pi/2.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::atan, A, Given...> atan(
    A&& a, const Given&... given) {
  return elementwise<functions::atan>(std::forward<A>(a), given...);
}
/// Returns the angle of the point (x, y), from -pi to pi, in its quadrant; the signs of zeros
/// matter.
///
///     auto angle = atan2(y, x);
template <class Y, class X, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::atan2, Y, X, Given...> atan2(
    Y&& y, X&& x, const Given&... given) {
  return elementwise<functions::atan2>(std::forward<Y>(y), std::forward<X>(x), given...);
}
/// Returns the hyperbolic sine.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::sinh, A, Given...> sinh(
    A&& a, const Given&... given) {
  return elementwise<functions::sinh>(std::forward<A>(a), given...);
}
/// Returns the hyperbolic cosine.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::cosh, A, Given...> cosh(
    A&& a, const Given&... given) {
  return elementwise<functions::cosh>(std::forward<A>(a), given...);
}
/// Returns the inverse hyperbolic sine.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::asinh, A, Given...> asinh(
    A&& a, const Given&... given) {
  return elementwise<functions::asinh>(std::forward<A>(a), given...);
}
/// Returns the nonnegative inverse hyperbolic cosine; NaN below 1.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::acosh, A, Given...> acosh(
    A&& a, const Given&... given) {
  return elementwise<functions::acosh>(std::forward<A>(a), given...);
}
/// Returns the inverse hyperbolic tangent: infinite at -1 and 1, NaN beyond.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::atanh, A, Given...> atanh(
    A&& a, const Given&... given) {
  return elementwise<functions::atanh>(std::forward<A>(a), given...);
}

}  // namespace shardwise
