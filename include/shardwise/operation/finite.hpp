// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/clamp.hpp"
#include "shardwise/operation/classification.hpp"
#include "shardwise/operation/comparison.hpp"
#include "shardwise/operation/logical.hpp"

#include <limits>

namespace shardwise {

/// Returns `x` with NaN replaced by 0, and infinities by the greatest and the lowest finite number.
/// For other numbers, use `where` and `clamp`.
template <class X, detail::Terms... Given>
  requires ElementwiseOperands<X>
[[nodiscard]] constexpr auto nan_to_num(const X& x, const Given&... given) {
  using limits = std::numeric_limits<typename X::value_type>;
  return where(isnan(x, detail::without_request(given)...), 0,
               clamp(x, limits::lowest(), limits::max(), detail::without_request(given)...),
               given...);
}

/// Returns true where `|a - b| <= absolute + relative |b|`, or where both are the same infinity; a
/// NaN is not close to anything. `all` of it is NumPy's `allclose`.
///
///     auto same = all(isclose(a, b));                // bool[]{partial min: data}
///     auto near = isclose(a, b, 1e-3, 1e-6);
template <class A, class B, detail::Terms... Given>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto isclose(const A& a, const B& b, double relative, double absolute,
                                     const Given&... given) {
  const auto apart =
      abs(subtract(a, b, detail::without_request(given)...), detail::without_request(given)...);
  const auto most = add(multiply(abs(b, detail::without_request(given)...), relative,
                                 detail::without_request(given)...),
                        absolute, detail::without_request(given)...);
  const auto is_near = logical_and(
      isfinite(b, detail::without_request(given)...),
      elementwise<functions::less_equal>(apart, most, detail::without_request(given)...),
      detail::without_request(given)...);
  return logical_or(equal(a, b, detail::without_request(given)...), is_near, given...);
}
template <class A, class B, detail::Terms... Given>
  requires ElementwiseOperands<A, B>
[[nodiscard]] constexpr auto isclose(const A& a, const B& b, const Given&... given) {
  return isclose(a, b, 1e-5, 1e-8, given...);
}

}  // namespace shardwise
