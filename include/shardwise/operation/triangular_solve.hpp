// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/matrices.hpp"

namespace shardwise {

/// The operation that solves linear systems with triangular matrices. Its integers state whether
/// the matrices are upper triangular and whether they are transposed.
struct triangular_solve_operation : detail::of_linear_systems {
  static constexpr text_view name = "triangular_solve";

  [[nodiscard]] static constexpr attributes how(bool is_upper, bool is_transposed) noexcept {
    return integer_attributes(index_t{is_upper}, index_t{is_transposed});
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    bounded_text<47> words;
    words << name << (how.integers[0] != 0 ? " upper" : " lower");
    if (how.integers[1] != 0) words << " transposed";
    return words;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    return cost_of(mesh, result, operands[0].extents[operands[0].rank() - 1]);
  }
  using emits = emitted_operations<einsum_operation, tril_operation, triu_operation>;
  /// The cotangents of the right-hand sides are the solutions with the transposed matrices.
  static constexpr void gradient(gradient_step& at) {
    const bool is_upper = at.how().integers[0] != 0, is_transposed = at.how().integers[1] != 0;
    const gradient_value back = emit<triangular_solve_operation>(how(is_upper, !is_transposed),
                                                                 at.operand(0), at.cotangent());
    at.give(1, back);
    if (!at.wants(0)) return;
    const bool columns = at.result().tensor().rank() == at.operand(0).tensor().rank();
    const text_view row = columns ? "xz" : "x", column = columns ? "yz" : "y";
    const gradient_value whole =
        -(is_transposed ? detail::batched_product(at.result(), row, back, column, "xy")
                        : detail::batched_product(back, row, at.result(), column, "xy"));
    at.give(0, is_upper ? emit<triu_operation>(triu_operation::how(0), whole)
                        : emit<tril_operation>(tril_operation::how(0), whole));
  }
};

namespace linalg {

/// Which triangle of a matrix is read, and whether as it is or transposed.
enum class triangular { lower, upper, lower_transposed, upper_transposed };

}  // namespace linalg

namespace detail {
/// The operation whose attributes are types.
template <linalg::triangular Which>
struct triangular_solve_of {
  using operation_class = triangular_solve_operation;
  static constexpr attributes how = triangular_solve_operation::how(
      Which == linalg::triangular::upper || Which == linalg::triangular::upper_transposed,
      Which == linalg::triangular::lower_transposed ||
          Which == linalg::triangular::upper_transposed);
};
}  // namespace detail

namespace linalg {

/// Returns the solutions `x` of `a x = b` for triangular matrices `a`, the last two dimensions; the
/// other triangle is not read. `b` has the rank of `a` and may have several columns, or has one
/// dimension less and is a vector for each matrix. The dimensions before are a batch; they and the
/// columns may be split, the rows must not be. If a diagonal has a 0, the result has infinities
/// or NaNs.
///
///     auto y = linalg::triangular_solve(l, b);         // f32[8@data, 4, 4], f32[8@data, 4]
///     auto x = linalg::triangular_solve<linalg::triangular::lower_transposed>(l, y);
template <triangular Which = triangular::lower, NamedOperand A, NamedOperand B,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::matrix_outcome<detail::triangular_solve_of<Which>, Given, A, B>
triangular_solve(A&& a, B&& b, const Given& given = {}) {
  return detail::carry_out_on_matrices<detail::triangular_solve_of<Which>, Given, A, B>(
      given, static_cast<A&&>(a), static_cast<B&&>(b));
}

}  // namespace linalg

}  // namespace shardwise
