// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/transcendental.hpp"

#include <utility>

namespace shardwise {

namespace functions {

struct exp2 : fractional_function<"exp2", 8> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * at.result() * 0.69314718055994531);
  }
};
struct expm1 : fractional_function<"expm1", 10> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent() * (at.result() + 1)); }
};
struct log1p : fractional_function<"log1p", 10> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent() / (at.operand(0) + 1)); }
};
struct log2 : fractional_function<"log2", 8> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * 1.4426950408889634 / at.operand(0));
  }
};
struct log10 : fractional_function<"log10", 8> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * 0.43429448190325183 / at.operand(0));
  }
};
struct logaddexp : fractional_function<"logaddexp", 20> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sigmoid>, pointwise<not_equal>, pointwise<logical_and>,
                                   pointwise<where>>;
  static constexpr void gradient(auto& at) {
    // Not `exp(a - result)`, which would make the rounding of a large result a factor. Equal
    // infinities have no difference: the result has the slope 1/2 there.
    const auto dy = at.cotangent(), a = at.operand(0), b = at.operand(1);
    const auto are_equal = elementwise<equal>(a, b);
    const auto give = [&](int k, const auto& difference) {
      const auto is_missing =
          elementwise<logical_and>(are_equal, elementwise<not_equal>(difference, at.number(0, dy)));
      const auto over_other = elementwise<where>(is_missing, at.number(0, dy), difference);
      at.give(k, dy * elementwise<sigmoid>(over_other));
    };
    give(0, a - b);
    give(1, b - a);
  }
};
struct pow : fractional_function<"pow", 20> {
  static constexpr bool on_elements = true;
  using emits =
      emitted_operations<pointwise<pow>, pointwise<log>, pointwise<logical_not>, pointwise<where>>;
  static constexpr void gradient(auto& at) {
    const auto dy = at.cotangent(), x = at.operand(0), y = at.operand(1);
    const auto is_zero = [&](const auto& value) {
      return elementwise<equal>(value, at.number(0, value));
    };
    const auto x_is_zero = is_zero(x), y_is_zero = is_zero(y);
    // The power 0 does not depend on the base, nor a power of 0 on the exponent. What is masked is
    // computed of 1, since infinities would be a factor of second derivatives.
    const auto exponent = elementwise<where>(y_is_zero, at.number(1, y), y + -1);
    const auto base = elementwise<where>(x_is_zero, at.number(1, x), x);
    at.give(0, dy * shardwise::masked(y * elementwise<pow>(x, exponent),
                                      elementwise<logical_not>(y_is_zero)));
    at.give(1, dy * shardwise::masked(at.result() * elementwise<log>(base),
                                      elementwise<logical_not>(x_is_zero)));
  }
};
struct rsqrt : fractional_function<"rsqrt", 2> {
  static constexpr void gradient(auto& at) {
    const auto y = at.result();
    at.give(0, at.cotangent() * -0.5 * elementwise<square>(y) * y);
  }
};
struct cbrt : fractional_function<"cbrt", 10> {
  static constexpr bool on_elements = true;
  static constexpr void gradient(auto& at) {
    const auto inverse = at.number(1, at.result()) / at.result();
    at.give(0, at.cotangent() * (elementwise<square>(inverse) * 0.33333333333333333));
  }
};
struct reciprocal : fractional_function<"reciprocal", 1> {
  static constexpr void gradient(auto& at) {
    at.give(0, -(at.cotangent() * elementwise<square>(at.result())));
  }
};
struct erf : fractional_function<"erf", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<exp>, pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) { at.give(0, slope(at, 1.1283791670955126)); }
  [[nodiscard]] static constexpr auto slope(auto& at, double scale) {
    const auto x = detail::bounded(at, at.operand(0), -32, 32);
    return at.cotangent() * elementwise<exp>(-elementwise<square>(x)) * scale;
  }
};
struct erfc : fractional_function<"erfc", 14> {
  static constexpr bool on_elements = true;
  using emits = erf::emits;
  static constexpr void gradient(auto& at) { at.give(0, erf::slope(at, -1.1283791670955126)); }
};
struct erfinv : fractional_function<"erfinv", 30> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<exp>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<exp>(elementwise<square>(at.result())) *
                   0.88622692545275801);
  }
};

}  // namespace functions

/// Returns 2 to the power of each element.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::exp2, A, Given...> exp2(
    A&& a, const Given&... given) {
  return elementwise<functions::exp2>(std::forward<A>(a), given...);
}
/// Returns `exp(x) - 1`, accurate near 0.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::expm1, A, Given...> expm1(
    A&& a, const Given&... given) {
  return elementwise<functions::expm1>(std::forward<A>(a), given...);
}
/// Returns `log(1 + x)`, accurate near 0: -infinity at -1, NaN below.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::log1p, A, Given...> log1p(
    A&& a, const Given&... given) {
  return elementwise<functions::log1p>(std::forward<A>(a), given...);
}
/// Returns the logarithm to base 2: -infinity at 0, NaN below.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::log2, A, Given...> log2(
    A&& a, const Given&... given) {
  return elementwise<functions::log2>(std::forward<A>(a), given...);
}
/// Returns the logarithm to base 10: -infinity at 0, NaN below.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::log10, A, Given...> log10(
    A&& a, const Given&... given) {
  return elementwise<functions::log10>(std::forward<A>(a), given...);
}
/// Returns `log(exp(a) + exp(b))` without overflow.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::logaddexp, A, B, Given...> logaddexp(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::logaddexp>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the first value to the power of the second; NaN where the first is negative and the
/// second is not an integer. Integers must be cast first.
///
///     auto y = pow(x, 1.5F);
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::pow, A, B, Given...> pow(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::pow>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns `1 / sqrt(x)`: infinite at 0, with its sign; NaN below.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::rsqrt, A, Given...> rsqrt(
    A&& a, const Given&... given) {
  return elementwise<functions::rsqrt>(std::forward<A>(a), given...);
}
/// Returns the cube root, also of negative numbers.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::cbrt, A, Given...> cbrt(
    A&& a, const Given&... given) {
  return elementwise<functions::cbrt>(std::forward<A>(a), given...);
}
/// Returns `1 / x`.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::reciprocal, A, Given...> reciprocal(
    A&& a, const Given&... given) {
  return elementwise<functions::reciprocal>(std::forward<A>(a), given...);
}
/// Returns the error function.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::erf, A, Given...> erf(
    A&& a, const Given&... given) {
  return elementwise<functions::erf>(std::forward<A>(a), given...);
}
/// Returns `1 - erf(x)`, accurate where erf is close to 1.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::erfc, A, Given...> erfc(
    A&& a, const Given&... given) {
  return elementwise<functions::erfc>(std::forward<A>(a), given...);
}
/// Returns the inverse of the error function: infinite at -1 and 1, NaN outside of them.
///
///     auto quantile = erfinv(2.0F * p - 1.0F) * 1.41421356F;    // of the normal distribution
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::erfinv, A, Given...> erfinv(
    A&& a, const Given&... given) {
  return elementwise<functions::erfinv>(std::forward<A>(a), given...);
}

}  // namespace shardwise
