// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/triangular_solve.hpp"

namespace shardwise {

/// The operation that factorises positive definite matrices.
struct cholesky_operation : detail::of_square_matrices {
  static constexpr text_view name = "cholesky";

  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const index_t rows = operands[0].extents[operands[0].rank() - 1];
    return {.flops = cost_of(mesh, operands[0], rows).flops / 3};
  }
  using emits = emitted_operations<triangular_solve_operation, einsum_operation, tril_operation,
                                   transpose_operation>;
  /// With `m` the lower half of `transpose(l) dl`, half of the symmetric part of
  /// `inverse(transpose(l)) m inverse(l)`, on both sides of the diagonal.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value l = at.result();
    const attributes back = triangular_solve_operation::how(false, true);
    const gradient_value m =
        detail::lower_half(detail::batched_product(l, "zx", at.cotangent(), "zy", "xy"));
    const gradient_value left = emit<triangular_solve_operation>(back, l, m);
    const gradient_value both = emit<triangular_solve_operation>(back, l, detail::transposed(left));
    at.give(0, (both + detail::transposed(both)) * 0.5);
  }
};

namespace linalg {

/// The operation as a type.
struct cholesky_of : without_attributes<cholesky_operation> {};

/// Returns the Cholesky factors `l` of symmetric positive definite matrices, the last two
/// dimensions: `l` is lower triangular and `l transpose(l)` the matrix. Only the lower triangle is
/// read. The factor of a matrix that is not positive definite is NaN. The other dimensions may be
/// split.
///
///     auto l = linalg::cholesky(covariance);           // f32[8@data, 4, 4]
///
/// If a dimension of the matrices is split, name its mesh axes with `across`: it is gathered.
///
///     auto l = linalg::cholesky(covariance, across<"model">);
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::matrix_outcome<cholesky_of, Given, X> cholesky(
    X&& x, const Given& given = {}) {
  return detail::carry_out_on_matrices<cholesky_of, Given, X>(given, static_cast<X&&>(x));
}

}  // namespace linalg

}  // namespace shardwise
