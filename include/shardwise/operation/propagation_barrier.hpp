// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/rule/gradient_step.hpp"
#include "shardwise/rule/layout_flow.hpp"

namespace shardwise {

/// The operation that returns its operand, and past which `propagate_layouts` carries layouts only
/// in the direction that is its integer.
struct propagation_barrier_operation : of_reordered_elements {
  static constexpr text_view name = "propagation_barrier";
  static constexpr bool keeps_elements = true;

  [[nodiscard]] static constexpr layout_flow flow(const attributes& how) noexcept {
    return static_cast<layout_flow>(how.integers[0]);
  }
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    return same_dimensions_rule(linearity::structural, operands[0].rank());
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&, const tensor_descs&) noexcept {
    return {};
  }
  static constexpr void gradient(gradient_step& at) { at.give(0, at.cotangent()); }
};

/// A barrier whose attributes are types.
template <layout_flow Flow>
struct propagation_barrier_of {
  using operation_class = propagation_barrier_operation;
  static constexpr attributes how = integer_attributes(static_cast<index_t>(Flow));
};

/// Returns the same tensor. `propagate_layouts` carries layouts past it only in one direction, or
/// not at all: the operand's layout to the result (forward) or the result's to the operand
/// (backward).
///
///     auto y = propagation_barrier<layout_flow::backward>(x);
template <layout_flow Flow = layout_flow::nowhere, NamedOperand X>
[[nodiscard]] constexpr auto propagation_barrier(X&& x)
    -> decltype(apply_operation<propagation_barrier_of<Flow>>(static_cast<X&&>(x))) {
  return apply_operation<propagation_barrier_of<Flow>>(static_cast<X&&>(x));
}

}  // namespace shardwise
