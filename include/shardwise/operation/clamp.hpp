// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/number.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Returns the median of an element and two bounds.
struct clamp : elementwise_function<"clamp", linearity::nonlinear, 2> {
  using emits = emitted_operations<pointwise<maximum>>;
  static constexpr void gradient(auto& at) {
    // The same as the gradient of the minimum of a maximum: equal values share the cotangent.
    const auto x = at.operand(0), low = at.operand(1), high = at.operand(2);
    const auto above = elementwise<maximum>(x, low);
    const auto inner = share<less>(at.cotangent(), above, high);
    at.give(0, share<greater>(inner, x, low));
    at.give(1, share<less>(inner, x, low));
    at.give(2, share<greater>(at.cotangent(), above, high));
  }

 private:
  template <class Wins>
  [[nodiscard]] static constexpr auto share(const auto& dy, const auto& a, const auto& b) {
    return shardwise::masked(dy, elementwise<Wins>(a, b)) +
           shardwise::masked(dy * 0.5, elementwise<equal>(a, b));
  }
};

}  // namespace functions

/// Returns `x` clamped to the bounds: `minimum(maximum(x, low), high)`. The result is NaN if any
/// operand is. The bounds are numbers or tensors.
///
///     auto y = clamp(x, -1.0F, 1.0F);
template <class X, class Low, class High, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::clamp, X, Low, High, Given...> clamp(
    X&& x, Low&& low, High&& high, const Given&... given) {
  return elementwise<functions::clamp>(std::forward<X>(x), std::forward<Low>(low),
                                       std::forward<High>(high), given...);
}

/// Returns the linear interpolation `a + weight (b - a)`. Pending sums stay pending if `weight` is
/// not pending.
///
///     average = lerp(average, weights, 0.01F);
template <class A, class B, class W, internal::Terms... Given>
  requires ElementwiseOperands<A, B, W>
[[nodiscard]] constexpr auto lerp(const A& a, B&& b, W&& weight, const Given&... given) {
  if constexpr (Scalar<A> && Scalar<B>)
    return lerp(internal::beside<functions::subtract>(weight, a), b, std::forward<W>(weight),
                given...);
  else
    return add(a,
               multiply(std::forward<W>(weight),
                        subtract(std::forward<B>(b), a, internal::without_request(given)...),
                        internal::without_request(given)...),
               given...);
}

/// Returns `a + scale b c`, rounded after each of the three operations.
template <class A, class B, class C, class Scale = int, internal::Terms... Given>
  requires ElementwiseOperands<A, B, C>
[[nodiscard]] constexpr auto addcmul(A&& a, B&& b, C&& c, const Scale& scale = 1,
                                     const Given&... given) {
  if constexpr (Scalar<B> && Scalar<C>)
    return addcmul(a, internal::beside<functions::multiply>(a, b), c, scale, given...);
  else
    return add(std::forward<A>(a),
               multiply(multiply(std::forward<B>(b), std::forward<C>(c),
                                 internal::without_request(given)...),
                        scale, internal::without_request(given)...),
               given...);
}

}  // namespace shardwise
