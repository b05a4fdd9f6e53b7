// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/matrices.hpp"

namespace shardwise {

/// The operation that solves linear systems with square matrices.
struct solve_operation : detail::of_linear_systems {
  static constexpr text_view name = "solve";

  /// A factorisation, and two triangular solutions for each column.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    const index_t rows = operands[0].extents[operands[0].rank() - 1];
    return {.flops = cost_of(mesh, operands[0], 2 * rows).flops / 3 +
                     cost_of(mesh, result, 2 * rows).flops};
  }
  using emits = emitted_operations<einsum_operation, transpose_operation>;
  /// The cotangents of the right-hand sides are the solutions with the transposed matrices.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value back =
        emit<solve_operation>({}, detail::transposed(at.operand(0)), at.cotangent());
    at.give(1, back);
    if (!at.wants(0)) return;
    const bool columns = at.result().tensor().rank() == at.operand(0).tensor().rank();
    at.give(0, -detail::batched_product(back, columns ? "xz" : "x", at.result(),
                                        columns ? "yz" : "y", "xy"));
  }
};

/// The operation that inverts square matrices.
struct inverse_operation : detail::of_square_matrices {
  static constexpr text_view name = "inverse";

  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return cost_of(mesh, operands[0], 2 * operands[0].extents[operands[0].rank() - 1]);
  }
  using emits = emitted_operations<einsum_operation>;
  static constexpr void gradient(gradient_step& at) {
    const gradient_value right =
        detail::batched_product(at.cotangent(), "xz", at.result(), "yz", "xy");
    at.give(0, -detail::batched_product(at.result(), "zx", right, "zy", "xy"));
  }
};

namespace linalg {

/// The operations as types.
struct solve_of : without_attributes<solve_operation> {};
struct inverse_of : without_attributes<inverse_operation> {};

/// Returns the solutions `x` of `a x = b` for square matrices `a`, the last two dimensions. `b` has
/// the rank of `a` and may have several columns, or has one dimension less and is a vector for each
/// matrix. The dimensions before are a batch; they and the columns may be split. The
/// solution of a singular matrix is not finite or, where rounding hides that it is singular, has no
/// correct digits.
///
///     auto x = linalg::solve(a, b);                    // f32[8@data, 4, 4], f32[8@data, 4]
template <NamedOperand A, NamedOperand B, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::matrix_outcome<solve_of, Given, A, B> solve(
    A&& a, B&& b, const Given& given = {}) {
  return detail::carry_out_on_matrices<solve_of, Given, A, B>(given, static_cast<A&&>(a),
                                                              static_cast<B&&>(b));
}
/// Returns the inverses of square matrices, the last two dimensions; that of a singular matrix is
/// like its solutions. To solve linear systems, use
/// `solve`, which is faster and more accurate.
///
///     auto y = linalg::inverse(a);                     // f32[8@data, 4, 4]
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::matrix_outcome<inverse_of, Given, X> inverse(
    X&& x, const Given& given = {}) {
  return detail::carry_out_on_matrices<inverse_of, Given, X>(given, static_cast<X&&>(x));
}

}  // namespace linalg

}  // namespace shardwise
