// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/exponential.hpp"
#include "shardwise/operation/whole_elements.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace shardwise {

namespace functions {

struct silu : fractional_function<"silu", 6> {
  using emits = emitted_operations<pointwise<sigmoid>, pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) {
    const auto s = elementwise<sigmoid>(at.operand(0));
    const auto x = detail::bounded(at, at.operand(0), -1000, 1000);
    at.give(0, at.cotangent() * (s * (x * (1 - s) + 1)));
  }
};
struct mish : fractional_function<"mish", 10> {
  using emits = emitted_operations<pointwise<sigmoid>, pointwise<maximum>, pointwise<minimum>>;
  /// With `s = sigmoid(x)` and `q = 1 - s`, the hyperbolic tangent is `s (1 + q) / (1 + q^2)`,
  /// which neither overflows nor cancels.
  static constexpr void gradient(auto& at) {
    const auto s = elementwise<sigmoid>(at.operand(0));
    const auto x = detail::bounded(at, at.operand(0), -1000, 1000);
    const auto q = 1 - s, square_of = elementwise<square>(q);
    const auto inverse = at.number(1, x) / (square_of + 1);
    at.give(0, at.cotangent() * (s * inverse * (q + 1 + x * 4 * square_of * inverse)));
  }
};
/// The limits at infinities are -1 and 1.
struct soft_sign : fractional_function<"soft_sign", 5> {
  using emits = emitted_operations<pointwise<abs>>;
  static constexpr void gradient(auto& at) {
    const auto x = at.operand(0);
    const auto inverse = at.number(1, x) / (elementwise<abs>(x) + 1);
    at.give(0, at.cotangent() * elementwise<square>(inverse));
  }
};
struct softplus : fractional_function<"softplus", 20> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<sigmoid>>;
  static constexpr void gradient(auto& at) {
    at.give(0, at.cotangent() * elementwise<sigmoid>(at.operand(0)));
  }
};
/// The form with the error function: x/2 (1 + erf(x / sqrt(2))).
struct gelu_exact : fractional_function<"gelu_exact", 16> {
  static constexpr bool on_elements = true;
  using emits =
      emitted_operations<pointwise<erfc>, pointwise<exp>, pointwise<maximum>, pointwise<minimum>>;
  static constexpr void gradient(auto& at) {
    const auto x = detail::bounded(at, at.operand(0), -40, 40);
    const auto share = elementwise<erfc>(x * -0.70710678118654752) * 0.5;
    const auto density = elementwise<exp>(elementwise<square>(x) * -0.5) * 0.39894228040143268;
    at.give(0, at.cotangent() * (share + x * density));
  }
};
/// The second operand is the slope below 0.
struct leaky_relu : elementwise_function<"leaky_relu", linearity::nonlinear, 2> {
  using emits = emitted_operations<pointwise<logical_not>>;
  static constexpr void gradient(auto& at) {
    const auto dy = at.cotangent(), x = at.operand(0);
    const auto below = elementwise<less>(x, at.number(0, x));
    at.give(0, shardwise::masked(dy * at.operand(1), below) +
                   shardwise::masked(dy, elementwise<logical_not>(below)));
    // Both are masked, since an infinite x above 0 would be a factor of tangents.
    at.give(1, shardwise::masked(dy, below) * shardwise::masked(x, below));
  }
};
/// The second operand is alpha; the limit for x towards minus infinity is -alpha.
struct elu : fractional_function<"elu", 12> {
  static constexpr bool on_elements = true;
  using emits = emitted_operations<pointwise<exp>, pointwise<expm1>, pointwise<logical_not>,
                                   pointwise<where>>;
  /// The slope at 0 is alpha, as in JAX and PyTorch. It is not computed as the result plus alpha,
  /// which would cancel where `x` is far below 0.
  static constexpr void gradient(auto& at) {
    const auto dy = at.cotangent(), x = at.operand(0), alpha = at.operand(1);
    const auto above = elementwise<less>(at.number(0, x), x);
    const auto not_above = elementwise<logical_not>(above);
    // Of 0 where x is above 0, since infinities would be a factor of second derivatives.
    const auto low = elementwise<where>(above, at.number(0, x), x);
    at.give(0, dy * elementwise<where>(above, at.number(1, x), alpha * elementwise<exp>(low)));
    at.give(1, shardwise::masked(dy * elementwise<expm1>(low), not_above));
  }
};

}  // namespace functions

/// Returns `x sigmoid(x)`, also known as swish.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::silu, A, Given...> silu(
    A&& a, const Given&... given) {
  return elementwise<functions::silu>(std::forward<A>(a), given...);
}
/// Returns `x tanh(softplus(x))`.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::mish, A, Given...> mish(
    A&& a, const Given&... given) {
  return elementwise<functions::mish>(std::forward<A>(a), given...);
}
/// Returns `x / (1 + |x|)`.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::soft_sign, A, Given...> soft_sign(
    A&& a, const Given&... given) {
  return elementwise<functions::soft_sign>(std::forward<A>(a), given...);
}
/// Returns `log(1 + exp(x))`, a smooth approximation of `relu`.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::softplus, A, Given...> softplus(
    A&& a, const Given&... given) {
  return elementwise<functions::softplus>(std::forward<A>(a), given...);
}
/// Returns `x/2 (1 + erf(x / sqrt(2)))`; `gelu` approximates it with `tanh`, which is faster.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::gelu_exact, A, Given...> gelu_exact(
    A&& a, const Given&... given) {
  return elementwise<functions::gelu_exact>(std::forward<A>(a), given...);
}
/// Returns `x`, or `slope x` below 0. The slope is a number or a tensor.
///
///     auto y = leaky_relu(x, 0.01F);
template <class X, class Slope, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::leaky_relu, X, Slope, Given...> leaky_relu(
    X&& x, Slope&& slope, const Given&... given) {
  return elementwise<functions::leaky_relu>(std::forward<X>(x), std::forward<Slope>(slope),
                                            given...);
}
/// Returns `x`, or `alpha (exp(x) - 1)` below 0.
///
///     auto y = elu(x, 1.0F);
template <class X, class Alpha, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::elu, X, Alpha, Given...> elu(
    X&& x, Alpha&& alpha, const Given&... given) {
  return elementwise<functions::elu>(std::forward<X>(x), std::forward<Alpha>(alpha), given...);
}

/// Returns `x` clamped to [-1, 1].
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto hardtanh(X&& x, const Given&... given) {
  constexpr int least = std::is_unsigned_v<typename std::remove_cvref_t<X>::value_type> ? 0 : -1;
  return clamp(std::forward<X>(x), least, 1, given...);
}

/// The names of functions that are composed of others in errors.
struct hard_sigmoid_of;
struct soft_shrink_of;
struct hard_shrink_of;

namespace detail {

/// The error for operands that are not a tensor and a number, of the function `Name`. `Instead` is
/// the call with a tensor in the place of the number.
template <class Name, class X, class Number, fixed_string Instead>
using wrong_threshold = std::conditional_t<
    AnyRefused<X, Number>, refused<>,
    std::conditional_t<
        !EitherOperand<X>, internal::no_tensor<Name, 0, X>,
        std::conditional_t<
            !EitherOperand<Number>, internal::no_tensor<Name, 1, X, Number>,
            refused<misuse::tensor_is_not_a_number, of_types<Name>, suggested(Instead)>>>>;

}  // namespace detail

/// Returns `(x + 3) / 6` clamped to [0, 1], of floating-point elements.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto hard_sigmoid(X&& x, const Given&... given) {
  if constexpr (detail::WholeElements<X>)
    return detail::refuse_whole_elements<hard_sigmoid_of, X>();
  else
    return divide(clamp(add(std::forward<X>(x), 3, internal::without_request(given)...), 0, 6), 6,
                  given...);
}

/// Returns `log(sigmoid(x))`, without overflow for any `x`.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto log_sigmoid(X&& x, const Given&... given) {
  return negate(softplus(negate(std::forward<X>(x), internal::without_request(given)...)),
                given...);
}

/// Returns `x` clamped to [0, 6].
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto relu6(X&& x, const Given&... given) {
  return clamp(std::forward<X>(x), 0, 6, given...);
}

/// Returns `x hard_sigmoid(x)`.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto hard_swish(const X& x, const Given&... given) {
  return multiply(x, hard_sigmoid(x, internal::without_request(given)...), given...);
}

/// Returns `scale elu(x, alpha)` with the constants that keep mean 0 and variance 1.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto selu(X&& x, const Given&... given) {
  return multiply(elu(std::forward<X>(x), 1.6732632423543772, internal::without_request(given)...),
                  1.0507009873554805, given...);
}

/// Returns `x`, or `alpha (exp(x / alpha) - 1)` below 0.
///
///     auto y = celu(x, 2.0F);
template <class X, class Alpha, internal::Terms... Given>
  requires ElementwiseOperands<X, Alpha>
[[nodiscard]] constexpr auto celu(X&& x, const Alpha& alpha, const Given&... given) {
  return multiply(elu(divide(std::forward<X>(x), alpha, internal::without_request(given)...), 1,
                      internal::without_request(given)...),
                  alpha, given...);
}

/// Returns `x` moved towards 0 by a number, at most to 0.
///
///     auto y = soft_shrink(x, 0.5F);
template <class X, class Threshold, internal::Terms... Given>
  requires ElementwiseOperands<X, Threshold>
[[nodiscard]] constexpr auto soft_shrink(const X& x, const Threshold& threshold,
                                         const Given&... given) {
  if constexpr (!(NamedOperand<X> && Scalar<Threshold>)) {
    return internal::report<
        detail::wrong_threshold<soft_shrink_of, X, Threshold, "x - clamp(x, -t, t)">>();
  } else {
    const auto least = [=] {
      if constexpr (std::is_unsigned_v<typename X::value_type>)
        return 0;
      else if constexpr (std::is_unsigned_v<Threshold>)
        return -static_cast<std::int64_t>(threshold);
      else
        return -threshold;
    };
    return subtract(x, clamp(x, least(), threshold, internal::without_request(given)...), given...);
  }
}

/// Returns `x` where its magnitude is greater than a number, and 0 elsewhere; NaN for NaN.
///
///     auto y = hard_shrink(x, 0.5F);
template <class X, class Threshold, internal::Terms... Given>
  requires ElementwiseOperands<X, Threshold>
[[nodiscard]] constexpr auto hard_shrink(const X& x, const Threshold& threshold,
                                         const Given&... given) {
  if constexpr (!(NamedOperand<X> && Scalar<Threshold>))
    return internal::report<
        detail::wrong_threshold<hard_shrink_of, X, Threshold, "where(abs(x) > t, x, 0)">>();
  else
    return where(elementwise<functions::less_equal>(abs(x, internal::without_request(given)...),
                                                    threshold, internal::without_request(given)...),
                 0, x, given...);
}

}  // namespace shardwise
