// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/logical.hpp"
#include "shardwise/operation/number.hpp"

#include <limits>

namespace shardwise {

/// Returns `x` with NaN replaced by 0, and infinities by the greatest and the lowest finite number.
/// For other numbers, use `where` and `clamp`.
template <class X, internal::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto nan_to_num(const X& x, const Given&... given) {
  using limits = std::numeric_limits<typename X::value_type>;
  return where(isnan(x, internal::without_request(given)...), 0,
               clamp(x, limits::lowest(), limits::max(), internal::without_request(given)...),
               given...);
}

/// Returns true where `|a - b| <= absolute + relative |b|`, or where both are the same infinity; a
/// NaN is not close to anything. `all` of it is NumPy's `allclose`.
///
///     auto same = all(isclose(a, b));                // bool[]{partial min: data}
///     auto near = isclose(a, b, 1e-3, 1e-6);
///     auto ones = isclose(a, 1.0F, 1e-3);
template <class A, class B, internal::Terms... Given>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto isclose(const A& a, const B& other, double relative, double absolute,
                                     const Given&... given) {
  const auto& b = internal::beside<functions::subtract>(a, other);
  const auto apart =
      abs(subtract(a, b, internal::without_request(given)...), internal::without_request(given)...);
  const auto most = add(multiply(abs(b, internal::without_request(given)...), relative,
                                 internal::without_request(given)...),
                        absolute, internal::without_request(given)...);
  const auto is_near = logical_and(
      isfinite(b, internal::without_request(given)...),
      elementwise<functions::less_equal>(apart, most, internal::without_request(given)...),
      internal::without_request(given)...);
  return logical_or(equal(a, b, internal::without_request(given)...), is_near, given...);
}
template <class A, class B, internal::Terms... Given>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto isclose(const A& a, const B& b, double relative,
                                     const Given&... given) {
  return isclose(a, b, relative, 1e-8, given...);
}
template <class A, class B, internal::Terms... Given>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto isclose(const A& a, const B& b, const Given&... given) {
  return isclose(a, b, 1e-5, given...);
}

}  // namespace shardwise
