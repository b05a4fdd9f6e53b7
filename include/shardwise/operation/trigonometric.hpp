// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/transcendental.hpp"

#include <utility>

namespace shardwise {

namespace functions {

struct cos;
struct cosh;
struct sin : fractional_function<"sin", 10> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<cos>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<cos>(at.operand(0)));
  }
};
struct cos : fractional_function<"cos", 10> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<sin>>;
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
  using emits = operations<pointwise<sqrt>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() / root_beside_one(at.operand(0)));
  }
  /// Returns `sqrt(1 - x^2)` from exact differences, since a rounded square would lose digits where
  /// it is close to 1.
  [[nodiscard]] static constexpr auto root_beside_one(const auto& x) {
    return elementwise<sqrt>((1 - x) * (x + 1));
  }
};
struct acos : fractional_function<"acos", 10> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<sqrt>>;
  static constexpr void gradient(auto& at) {
    at.give(0, -(at.cotangent() / asin::root_beside_one(at.operand(0))));
  }
};
struct atan : fractional_function<"atan", 10> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() / (elementwise<square>(at.operand(0)) + 1));
  }
};
struct atan2 : fractional_function<"atan2", 12> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    const auto y = at.operand(0), x = at.operand(1);
    const auto scaled = at.cotangent() / (elementwise<square>(x) + elementwise<square>(y));
    at.give(0, scaled * x);
    at.give(1, -(scaled * y));
  }
};
struct sinh : fractional_function<"sinh", 12> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<cosh>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<cosh>(at.operand(0)));
  }
};
struct cosh : fractional_function<"cosh", 12> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<sinh>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<sinh>(at.operand(0)));
  }
};
struct asinh : fractional_function<"asinh", 12> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<sqrt>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() / elementwise<sqrt>(elementwise<square>(at.operand(0)) + 1));
  }
};
struct acosh : fractional_function<"acosh", 12> {
  static constexpr bool on_elements = true;
  using emits = operations<pointwise<sqrt>>;
  static constexpr void gradient(auto& at) {
    const auto x = at.operand(0);
    at.give(0, at.cotangent() / elementwise<sqrt>((x + -1) * (x + 1)));
  }
};
struct atanh : fractional_function<"atanh", 12> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    const auto x = at.operand(0);
    at.give(0, at.cotangent() / ((1 - x) * (x + 1)));
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
