// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/whole.hpp"
#include "shardwise/operation/as.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <type_traits>

namespace shardwise {

/// The operation that returns a tensor of one number, its second operand. It uses only the extents
/// and the layout of the first one.
///
///     ([i, j], []) -> ([i, j])
struct full_like_operation {
  static constexpr text_view name = "full_like";
  static constexpr views_read reads = views_read::any;
  static constexpr bool overwrites_first = true;

  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    out.operands.push_back({});
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, true);
  }
  /// No element of the first operand matters.
  static constexpr void gradient(gradient_step& at) {
    if (at.wants(1)) at.give(1, at.cotangent());
  }
};

namespace detail {
struct full_like_of : without_attributes<full_like_operation> {};
template <class Permitted>
using full_like_call = numbers_call<full_like_of, Permitted, void>;
}  // namespace detail

/// Returns a tensor with the element type, the extents and the layout of `x`, whose elements are
/// all `value`: a number, or a tensor of rank 0. The elements of `x` are not read. Every layout is
/// accepted; a pending `x` is an error, since the sum of such terms would be another number.
///
///     auto y = full_like(x, 0.5F);           // f32[8@data, 4]
///     auto z = full_like(x, 0);
template <NamedOperand X, class Value, internal::Terms Given = across_axes<>>
  requires(Scalar<Value> || NamedOperand<Value>)
[[nodiscard]] constexpr internal::outcome_on<detail::full_like_call<internal::permitted_by<Given>>,
                                             Given, X, Value>
full_like(X&& x, Value&& value, const Given& given = {}) {
  return internal::carry_out_on<detail::full_like_call<internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x), static_cast<Value&&>(value));
}

/// Returns a tensor of ones, with the element type, the extents and the layout of `x`.
///
///     auto y = ones_like(x);
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto ones_like(X&& x, const Given& given = {}) {
  using T = typename std::remove_cvref_t<X>::value_type;
  return full_like(static_cast<X&&>(x), static_cast<T>(1), given);
}
/// Returns a tensor of zeros, with the element type, the extents and the layout of `x`.
/// `<shardwise/nn.hpp>` has it for nests of tensors.
///
///     auto y = zeros_like(x);
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto zeros_like(const X& x, const Given& given = {}) {
  return full_like(x, static_cast<typename X::value_type>(0), given);
}

}  // namespace shardwise
