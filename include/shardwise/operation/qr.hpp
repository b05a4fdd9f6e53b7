// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/einsum.hpp"
#include "shardwise/operation/pad.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/triangular_solve.hpp"

#include <utility>

namespace shardwise {

/// The operation that makes the columns of matrices orthonormal, one after another; of more columns
/// than rows, only as many as there are rows.
struct orthonormal_columns_operation : detail::of_matrices {
  static constexpr text_view name = "orthonormal_columns";

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const tensor_desc& x = operands[0];
    const int rank = x.rank();
    factor_rule out = of_matrices::rule(how, operands);
    out.factors.push_back(factor_kind::need_replication);
    out.sizes = out.given_sizes();
    out.sizes[rank] = made_columns(x);
    out.result[rank - 1] = static_cast<std::uint8_t>(rank);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    return check_rank(operands[0]);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return cost_of(mesh, operands[0], 4 * made_columns(operands[0]));
  }
  using emits =
      emitted_operations<einsum_operation, tril_operation, triu_operation, transpose_operation,
                         triangular_solve_operation, slice_operation, pad_operation>;
  /// With `q` and `r` of the columns that were read and `m = -transpose(dq) q`, the product of `dq
  /// + q (m with its lower triangle mirrored)` and the transpose of the inverse of `r`.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value q = at.result(), dq = at.cotangent();
    const int rank = q.tensor().rank();
    const index_t read = q.tensor().extents[rank - 1];
    const index_t others = at.operand(0).tensor().extents[rank - 1] - read;
    gradient_value x = at.operand(0);
    if (others > 0) x = emit<slice_operation>(slice_operation::how(rank - 1, 0, read, 1), x);
    const gradient_value r = emit<triu_operation>(triu_operation::how(0),
                                                  detail::batched_product(q, "zx", x, "zy", "xy"));
    const gradient_value m = -detail::batched_product(dq, "zx", q, "zy", "xy");
    const gradient_value mirrored =
        emit<tril_operation>(tril_operation::how(0), m) +
        detail::transposed(emit<tril_operation>(tril_operation::how(-1), m));
    const gradient_value both = dq + detail::batched_product(q, "xz", mirrored, "zy", "xy");
    gradient_value dx = detail::transposed(emit<triangular_solve_operation>(
        triangular_solve_operation::how(true, false), r, detail::transposed(both)));
    if (others > 0) {
      attributes amounts;
      for (int d = 0; d < 2 * rank - 1; ++d) amounts.integers.push_back(0);
      amounts.integers.push_back(others);
      dx = emit<pad_operation>(amounts, dx);
    }
    at.give(0, dx);
  }

 private:
  [[nodiscard]] static constexpr index_t made_columns(const tensor_desc& x) noexcept {
    const index_t rows = x.extents[x.rank() - 2], columns = x.extents[x.rank() - 1];
    if (rows == dyn || columns == dyn) return dyn;
    return rows < columns ? rows : columns;
  }
};

namespace linalg {

/// The operation as a type.
struct qr_of : without_attributes<orthonormal_columns_operation> {};

}  // namespace linalg

namespace detail {
template <class Permitted>
struct qr_steps {
  template <class X>
  [[nodiscard]] static constexpr auto apply(const X& given) {
    using T = typename X::value_type;
    const auto x = whole_matrices<linalg::qr_of, Permitted>(given);
    const auto q = apply_operation<linalg::qr_of>(x);
    return std::pair(narrowed<T>(q), narrowed<T>(triu(einsum<"...ki,...kj->...ij">(q, x))));
  }
};
template <class Permitted>
using qr_call = composed_call<linalg::qr_of, Permitted, qr_steps<Permitted>>;

}  // namespace detail

namespace internal {

template <class Permitted>
inline constexpr int result_count<qr_call<Permitted>> = 2;
}  // namespace internal

namespace linalg {

/// Returns the QR decomposition of matrices, the last two dimensions: `q`, whose columns are
/// orthonormal, and the upper triangular `r`, whose product is the matrix. Of `m` rows and `n`
/// columns, `q` has `min(m, n)` columns and `r` as many rows. The other dimensions may be split.
///
///     // f32[8@data, 6, 4] -> f32[8@data, 6, 4], f32[8@data, 4, 4]
///     auto [q, r] = linalg::qr(x);
template <NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::qr_call<internal::permitted_by<Given>>, Given,
                                             X>
qr(X&& x, const Given& given = {}) {
  return internal::carry_out_on<detail::qr_call<internal::permitted_by<Given>>>(
      given, static_cast<X&&>(x));
}

}  // namespace linalg

}  // namespace shardwise
