// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// What asks about the kind of a number gives truth values.
template <fixed_string Symbol>
struct classification : elementwise_function<Symbol> {
  static constexpr element result = element::boolean;
  static constexpr bool on_elements = true;
};
struct isnan : classification<"isnan"> {};
struct isinf : classification<"isinf"> {};
struct isfinite : classification<"isfinite"> {};

}  // namespace functions

/// True where an element is no number. Of integers it never is.
///
///     auto clean = where(isnan(x), 0.0F, x);
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::isnan, A> isnan(A&& a) {
  return elementwise<functions::isnan>(std::forward<A>(a));
}
/// True where an element is infinite, of either sign.
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::isinf, A> isinf(A&& a) {
  return elementwise<functions::isinf>(std::forward<A>(a));
}
/// True where an element is a number and not infinite.
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::isfinite, A> isfinite(A&& a) {
  return elementwise<functions::isfinite>(std::forward<A>(a));
}

}  // namespace shardwise
