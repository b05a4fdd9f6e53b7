// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/elementwise.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <cstdint>
#include <utility>

namespace shardwise {

namespace functions {

/// The identity, for operands that are not pending; its cotangent is therefore not pending either,
/// except over the axes over which the caller of the gradient left it pending.
struct finish_gradient : elementwise_function<"finish_gradient", linearity::nonlinear, 0> {
  static constexpr void gradient(gradient_step& at) {
    const gradient_value cotangent = at.cotangent();
    layout_desc left = cotangent.tensor().layout;
    left.pending = static_cast<std::uint8_t>(left.pending & at.left_pending(0));
    if (left.pending == 0)
      at.give(0, elementwise<finish_gradient>(cotangent));
    else
      at.give(0, at.laid_out(cotangent, left));
  }
};

}  // namespace functions

/// Returns its operand; a pending gradient is reduced here, in the element type of the operand,
/// before it propagates further back. The gradient of an argument that is requested with
/// `left_pending` stays pending if the argument reaches this function unchanged or converted.
///
///     auto used = finish_gradient(cast<bfloat16>(w));   // gradients move as bf16, not as f32
template <class A, internal::Terms... Given>
[[nodiscard]] constexpr internal::of_elements<functions::finish_gradient, A, Given...>
finish_gradient(A&& a, const Given&... given) {
  return elementwise<functions::finish_gradient>(std::forward<A>(a), given...);
}

}  // namespace shardwise
