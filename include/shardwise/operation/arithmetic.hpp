// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <limits>
#include <utility>

namespace shardwise {

namespace functions {

/// Returns its operand: a copy that can be fused.
struct identity : elementwise_function<"identity", linearity::additive, 0> {
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent()); }
};
struct negate : elementwise_function<"negate", linearity::additive> {
  static constexpr void gradient(auto& at) { at.give(0, -at.cotangent()); }
};
struct add : elementwise_function<"+", linearity::additive> {
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent());
    at.give(1, at.cotangent());
  }
};
struct subtract : elementwise_function<"-", linearity::additive> {
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent());
    at.give(1, -at.cotangent());
  }
};
/// The same, but gradients treat the second operand as a constant: the shift of a softmax, on which
/// the result does not depend.
struct subtract_constant : subtract {
  static constexpr text_view symbol = "subtract_constant";
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent()); }
};
struct multiply : elementwise_function<"*", linearity::multilinear> {
  /// Infinity times the terms 2 and -1 adds up to NaN, and infinity times their sum does not.
  template <class T>
  [[nodiscard]] static constexpr bool distributes(const auto& number) noexcept {
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    const auto value = static_cast<double>(number);
    return value != value || (value <= most && value >= -most);
  }
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * at.operand(1));
    at.give(1, at.cotangent() * at.operand(0));
  }
};
/// Quotients of integers are truncated, so the quotients of the terms do not add up to that of the
/// sum.
struct divide : elementwise_function<"/", linearity::first_operand> {
  [[nodiscard]] static constexpr linearity law_for(element type) noexcept {
    return has_fractions(type) ? linearity::first_operand : linearity::nonlinear;
  }
  template <class T>
  [[nodiscard]] static constexpr bool distributes(const auto& number) noexcept {
    return number != 0;
  }
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() / at.operand(1));
    at.give(1, -(at.cotangent() * at.result() / at.operand(1)));
  }
};
struct greater;
struct less;
struct equal;
struct maximum : elementwise_function<"maximum", linearity::max_of> {
  /// Equal operands share the cotangent evenly.
  static constexpr void gradient(auto& at) {
    at.give(0, share<greater>(at));
    at.give(1, share<less>(at));
  }
  template <class Wins>
  [[nodiscard]] static constexpr auto share(auto& at) {
    const auto dy = at.cotangent();
    return shardwise::masked(dy, elementwise<Wins>(at.operand(0), at.operand(1))) +
           shardwise::masked(dy * 0.5, elementwise<equal>(at.operand(0), at.operand(1)));
  }
};
struct minimum : elementwise_function<"minimum", linearity::min_of> {
  static constexpr void gradient(auto& at) {
    at.give(0, maximum::share<less>(at));
    at.give(1, maximum::share<greater>(at));
  }
};
struct abs : elementwise_function<"abs"> {
  /// The derivative at 0 is 0.
  static constexpr void gradient(auto& at) {
    const auto dy = at.cotangent();
    const auto x = at.operand(0);
    at.give(0, shardwise::masked(dy, elementwise<greater>(x, at.number(0, x))) -
                   shardwise::masked(dy, elementwise<less>(x, at.number(0, x))));
  }
};
struct square : elementwise_function<"square"> {
  static constexpr void gradient(auto& at) { at.give(0, at.cotangent() * (at.operand(0) * 2)); }
};
struct relu : elementwise_function<"relu"> {
  /// The derivative at 0 is 0.
  static constexpr void gradient(auto& at) {
    const auto x = at.operand(0);
    at.give(0, shardwise::masked(at.cotangent(), elementwise<greater>(x, at.number(0, x))));
  }
};
/// Returns the first operand where the second is true, and 0 elsewhere.
struct masked : elementwise_function<"masked", linearity::first_operand> {
  static constexpr bool masks = true;
  static constexpr void gradient(auto& at) {
    at.give(0, elementwise<masked>(at.cotangent(), at.operand(1)));
  }
};

}  // namespace functions

/// Returns the elementwise sum, difference, product or quotient. Operands are tensors and numbers;
/// tensors of other shapes are broadcast.
///
///     auto y = (x - mean) * scale + 1.0F;
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::add, A, B> operator+(A&& a, B&& b) {
  return elementwise<functions::add>(std::forward<A>(a), std::forward<B>(b));
}
/// See `operator+`.
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::subtract, A, B> operator-(A&& a, B&& b) {
  return elementwise<functions::subtract>(std::forward<A>(a), std::forward<B>(b));
}
/// See `operator+`.
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::multiply, A, B> operator*(A&& a, B&& b) {
  return elementwise<functions::multiply>(std::forward<A>(a), std::forward<B>(b));
}
/// See `operator+`.
template <class A, class B>
[[nodiscard]] constexpr internal::of_elements<functions::divide, A, B> operator/(A&& a, B&& b) {
  return elementwise<functions::divide>(std::forward<A>(a), std::forward<B>(b));
}
/// Returns the elements with the other sign.
template <class A>
[[nodiscard]] constexpr internal::of_elements<functions::negate, A> operator-(A&& a) {
  return elementwise<functions::negate>(std::forward<A>(a));
}

/// The operators as functions, whose last argument may be `as` or `across`.
///
///     auto y = add(x, row, as<P<"data", none>>);
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::add, A, B, Given...> add(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::add>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// See `add`.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::subtract, A, B, Given...> subtract(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::subtract>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// See `add`.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::multiply, A, B, Given...> multiply(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::multiply>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// See `add`.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::divide, A, B, Given...> divide(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::divide>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// See `add`.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::negate, A, Given...> negate(
    A&& a, const Given&... given) {
  return elementwise<functions::negate>(std::forward<A>(a), given...);
}

/// Returns the elementwise maximum of two values.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::maximum, A, B, Given...> maximum(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::maximum>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the elementwise minimum of two values.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::minimum, A, B, Given...> minimum(
    A&& a, B&& b, const Given&... given) {
  return elementwise<functions::minimum>(std::forward<A>(a), std::forward<B>(b), given...);
}
/// Returns the absolute values.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::abs, A, Given...> abs(
    A&& a, const Given&... given) {
  return elementwise<functions::abs>(std::forward<A>(a), given...);
}
/// Returns the squares.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::square, A, Given...> square(
    A&& a, const Given&... given) {
  return elementwise<functions::square>(std::forward<A>(a), given...);
}
/// Returns the larger of each element and 0.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::relu, A, Given...> relu(
    A&& a, const Given&... given) {
  return elementwise<functions::relu>(std::forward<A>(a), given...);
}

/// Returns the values where the condition, a tensor of `bool`, is true, and 0 elsewhere: `where(c,
/// x, 0)` for pending sums.
template <class A, class B, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::masked, A, B, Given...> masked(
    A&& a, B&& condition, const Given&... given) {
  return elementwise<functions::masked>(std::forward<A>(a), std::forward<B>(condition), given...);
}

constexpr gradient_value operator+(const gradient_value& a, const gradient_value& b) {
  return elementwise<functions::add>(a, b);
}
constexpr gradient_value operator-(const gradient_value& a, const gradient_value& b) {
  return elementwise<functions::subtract>(a, b);
}
constexpr gradient_value operator*(const gradient_value& a, const gradient_value& b) {
  return elementwise<functions::multiply>(a, b);
}
constexpr gradient_value operator/(const gradient_value& a, const gradient_value& b) {
  return elementwise<functions::divide>(a, b);
}
constexpr gradient_value operator-(const gradient_value& a) {
  return elementwise<functions::negate>(a);
}
constexpr gradient_value operator+(const gradient_value& a, double b) {
  return a + a.step->number(b, a);
}
constexpr gradient_value operator-(double a, const gradient_value& b) {
  return b.step->number(a, b) - b;
}
constexpr gradient_value operator*(const gradient_value& a, double b) {
  return a * a.step->number(b, a);
}
constexpr gradient_value masked(const gradient_value& a, const gradient_value& condition) {
  return elementwise<functions::masked>(a, condition);
}

}  // namespace shardwise
