// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// What it is given, which gradients do not pass.
struct stop_gradient : elementwise_function<"stop_gradient", linearity::structural, 0> {
  static constexpr bool takes_any = true;
  static constexpr bool stops_gradient = true;
};

}  // namespace functions

/// The same tensor, as a constant where gradients are taken.
template <class A>
[[nodiscard]] constexpr detail::of_elements<functions::stop_gradient, A> stop_gradient(A&& a) {
  return elementwise<functions::stop_gradient>(std::forward<A>(a));
}

}  // namespace shardwise
