// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/scatter.hpp"

namespace shardwise {

/// The operation that writes each element of its third operand at the index along a dimension of
/// the first that the second operand holds at the same position. The integers are those of
/// `scatter`. Along other dimensions the indices may be fewer, as for `take_along`.
struct put_along_operation : detail::writes_at_indices {
  static constexpr text_view name = "put_along";

  /// Each device writes those indices that it holds, so the dimension may be split; it needs all of
  /// the indices along it.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    factor_rule out = same_dimensions_rule(linearity::nonlinear, operands[0].rank());
    factor_map given = out.result;
    for (int d = 0; d < given.ssize(); ++d) {
      const bool is_part = d != dim && detail::takes_part(operands, d);
      if (d != dim && !is_part) continue;
      if (is_part) out.factors[d] = factor_kind::need_replication;
      given[d] = static_cast<std::uint8_t>(out.factors.ssize());
      out.factors.push_back(factor_kind::need_replication);
    }
    out.operands.push_back(given);
    out.operands.push_back(given);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return over(how.integers[0]).judge(operands[0].rank());
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    return detail::scatter_label(name, how);
  }
  using emits = emitted_operations<put_along_operation, take_along_operation, sum_along_operation,
                                   pointwise<functions::where>>;
  static constexpr void gradient(gradient_step& at) {
    detail::scatter_gradient<put_along_operation, take_along_operation>(at);
  }
};

/// The operation whose attributes are types.
template <int Dim, scatter_mode What, out_of_range Mode>
struct put_along_of {
  using operation_class = put_along_operation;
  static constexpr attributes how = put_along_operation::how(Dim, What, Mode);
};

/// Returns the tensor with each element of `updates` written at the index along a dimension that
/// `indices` holds at its position: set, added, multiplied, or combined by a maximum or minimum;
/// `put_along_axis` in NumPy, `scatter` and `scatter_reduce` in PyTorch. If indices are equal, the
/// last one along the dimension is set; sums and products are computed in the order of the indices.
///
/// The dimension may be split, since each device writes those indices that it holds; `indices` and
/// `updates`, of the same extents, must not be split along it. All other dimensions are those of
/// `x`, and split like them; if the indices have fewer elements along one of them, but not a single
/// one, only as many of `x` are written, and none may be split along it. Nothing may be pending.
///
///     // f32[8@data, 50@model], i32[8@data, 4], f32[8@data, 4] -> f32[8@data, 50@model]
///     auto y = put_along<1, scatter_mode::add>(x, ids, updates);
template <int Dim, scatter_mode What = scatter_mode::set, out_of_range Mode = out_of_range::error,
          NamedOperand X, NamedOperand Indices, NamedOperand Updates,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto put_along(X&& x, Indices&& indices, Updates&& updates,
                                       Given permitted = {})
    -> decltype(apply_operation<put_along_of<Dim, What, Mode>>(permitted, static_cast<X&&>(x),
                                                               static_cast<Indices&&>(indices),
                                                               static_cast<Updates&&>(updates))) {
  return apply_operation<put_along_of<Dim, What, Mode>>(permitted, static_cast<X&&>(x),
                                                        static_cast<Indices&&>(indices),
                                                        static_cast<Updates&&>(updates));
}

}  // namespace shardwise
