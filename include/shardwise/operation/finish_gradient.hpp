// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"

#include <utility>

namespace shardwise {

namespace functions {

/// The identity, for operands that are not pending; its cotangent is therefore not pending either.
struct finish_gradient : elementwise_function<"finish_gradient", linearity::nonlinear, 0> {
  static constexpr void gradient(auto& at) {
    at.give(0, elementwise<finish_gradient>(at.cotangent()));
  }
};

}  // namespace functions

/// Returns its operand; a pending gradient is reduced here, in the element type of the operand,
/// before it propagates further back.
///
///     auto used = finish_gradient(cast<bfloat16>(w));   // gradients move as bf16, not as f32
template <class A, detail::Terms... Given>
[[nodiscard]] constexpr detail::of_elements<functions::finish_gradient, A, Given...>
finish_gradient(A&& a, const Given&... given) {
  return elementwise<functions::finish_gradient>(std::forward<A>(a), given...);
}

}  // namespace shardwise
