// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Base of functions that classify numbers; their results are `bool`.
template <fixed_string Symbol>
struct classification : elementwise_function<Symbol> {
  static constexpr element result = element::boolean;
  static constexpr bool on_elements = true;
};
struct isnan : classification<"isnan"> {};
struct isinf : classification<"isinf"> {};
struct isfinite : classification<"isfinite"> {};

}  // namespace functions

/// Returns true where an element is NaN; for integers, always false.
///
///     auto clean = where(isnan(x), 0.0F, x);
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::isnan, A, Given...> isnan(
    A&& a, const Given&... given) {
  return elementwise<functions::isnan>(std::forward<A>(a), given...);
}
/// Returns true where an element is infinite, of either sign.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::isinf, A, Given...> isinf(
    A&& a, const Given&... given) {
  return elementwise<functions::isinf>(std::forward<A>(a), given...);
}
/// Returns true where an element is neither NaN nor infinite.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::isfinite, A, Given...> isfinite(
    A&& a, const Given&... given) {
  return elementwise<functions::isfinite>(std::forward<A>(a), given...);
}

}  // namespace shardwise
