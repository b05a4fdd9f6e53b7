// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// Returns its operand, and stops gradients.
struct stop_gradient : elementwise_function<"stop_gradient", linearity::structural, 0> {
  static constexpr bool takes_any = true;
  static constexpr bool stops_gradient = true;
};

}  // namespace functions

/// Returns the same tensor, which gradients treat as a constant.
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::stop_gradient, A, Given...> stop_gradient(
    A&& a, const Given&... given) {
  return elementwise<functions::stop_gradient>(std::forward<A>(a), given...);
}

}  // namespace shardwise
