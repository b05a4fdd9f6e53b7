// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/pad.hpp"
#include "shardwise/operation/search.hpp"
#include "shardwise/operation/slice.hpp"
#include "shardwise/operation/triangular_solve.hpp"

namespace shardwise {

/// The operation that multiplies reflectors, whose vectors are the columns of matrices below their
/// diagonals, and returns the first columns of the products. Its second operand has the factors of
/// the reflectors, which may be fewer than the columns.
struct householder_product_operation : detail::of_matrices {
  static constexpr text_view name = "householder_product";

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = of_matrices::rule(how, operands);
    factor_map factors = out.operands[0];
    factors.pop_back();
    factors[rank - 2] = static_cast<std::uint8_t>(rank);
    out.operands.push_back(factors);
    out.factors.push_back(factor_kind::need_replication);
    return out;
  }
  /// Checks that there are at least as many rows as columns, and at least as many columns as
  /// factors.
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    if (const diagnosis ranked = check_rank(operands[0]); !ranked.ok()) return ranked;
    const int rank = operands[0].rank();
    if (operands[1].rank() != rank - 1)
      return {.rule = violation::operand_rank_differs,
              .operand = 1,
              .have = operands[1].rank(),
              .want = rank - 1};
    const index_t rows = operands[0].extents[rank - 2], columns = operands[0].extents[rank - 1];
    const index_t factors = operands[1].extents[rank - 2];
    const auto exceeds = [](index_t size, index_t most) {
      return size != dyn && most != dyn && size > most;
    };
    if (exceeds(columns, rows))
      return {.rule = violation::dimension_is_too_short,
              .operand = 0,
              .dim = rank - 2,
              .have = rows,
              .want = columns};
    if (exceeds(factors, columns))
      return {.rule = violation::dimension_is_too_short,
              .operand = 0,
              .dim = rank - 1,
              .have = columns,
              .want = factors};
    return {};
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return cost_of(mesh, operands[0], 4 * operands[1].extents[operands[1].rank() - 1]);
  }
  using emits = emitted_operations<einsum_operation, iota_like_operation, tril_operation,
                                   triu_operation, transpose_operation, triangular_solve_operation,
                                   slice_operation, pad_operation>;
  /// The product of `k` reflectors is `1 - v x`, where `v` has their vectors, and `x` solves `s x =
  /// tau transpose(v)`, with the upper triangular `s = 1 + tau u`, where `tau` scales rows and `u`
  /// is the part of `transpose(v) v` above the diagonal. This is differentiated.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value a = at.operand(0), dy = at.cotangent();
    const int rank = a.tensor().rank();
    const index_t columns = a.tensor().extents[rank - 1];
    const index_t used = at.operand(1).tensor().extents[rank - 2];
    extents_desc column = at.operand(1).tensor().extents;
    column.push_back(1);
    const gradient_value tau = internal::shaped(at.operand(1), column);

    const gradient_value v =
        emit<tril_operation>(tril_operation::how(-1), first(a, rank - 1, used)) +
        identity(first(a, rank - 1, used));
    const gradient_value top = detail::transposed(first(v, rank - 2, columns));
    const gradient_value u = emit<triu_operation>(triu_operation::how(1),
                                                  detail::batched_product(v, "zx", v, "zy", "xy"));
    const gradient_value s = identity(u) + tau * u;
    const gradient_value x = emit<triangular_solve_operation>(
        triangular_solve_operation::how(true, false), s, tau * top);

    const gradient_value back =
        emit<triangular_solve_operation>(triangular_solve_operation::how(true, true), s,
                                         -detail::batched_product(v, "zx", dy, "zy", "xy"));
    const gradient_value ds = -emit<triu_operation>(
        triu_operation::how(1), detail::batched_product(back, "xz", x, "yz", "xy"));
    if (at.wants(1)) {
      const attributes over_columns =
          reduction_operation::how(reduction::sum, 1U << (rank - 1), false);
      at.give(1, emit<reduction_operation>(over_columns, back * top) +
                     emit<reduction_operation>(over_columns, ds * u));
    }
    if (!at.wants(0)) return;
    const gradient_value du = tau * ds;
    const gradient_value dv =
        detail::batched_product(v, "xz", du + detail::transposed(du), "zy", "xy") -
        detail::batched_product(dy, "xz", x, "yz", "xy") +
        padded(detail::transposed(tau * back), rank - 2, a.tensor().extents[rank - 2] - columns);
    at.give(0, padded(emit<tril_operation>(tril_operation::how(-1), dv), rank - 1, columns - used));
  }

 private:
  /// Returns the first elements of a dimension, and elements followed by zeros.
  [[nodiscard]] static constexpr gradient_value first(const gradient_value& x, int dim,
                                                      index_t count) {
    return x.tensor().extents[dim] == count
               ? x
               : emit<slice_operation>(slice_operation::how(dim, 0, count, 1), x);
  }
  [[nodiscard]] static constexpr gradient_value padded(const gradient_value& x, int dim,
                                                       index_t count) {
    return count == 0
               ? x
               : emit<pad_operation>(pad_operation::how_along(x.tensor().rank(), dim, 0, count), x);
  }
  /// Returns ones on the diagonals of matrices of this shape, and zeros beside them.
  [[nodiscard]] static constexpr gradient_value identity(const gradient_value& like) {
    const int rank = like.tensor().rank();
    const auto index = [&](int dim) {
      return emit<iota_like_operation>(iota_like_operation::how(dim), like);
    };
    return masked(like.step->number(1, like),
                  elementwise<functions::equal>(index(rank - 2), index(rank - 1)));
  }
};

namespace linalg {

/// The operation as a type.
struct householder_product_of : without_attributes<householder_product_operation> {};

/// Returns the first `n` columns of the products of `k` Householder reflectors, `(1 - tau[0] v0
/// transpose(v0)) (1 - tau[1] v1 transpose(v1)) ...`, as LAPACK's `orgqr`: column `i` of the
/// matrices `a`, the last two dimensions, has the elements of vector `i` below the diagonal; above
/// them the vector has a 1 and zeros, and nothing else of `a` is read. For `m` rows, `n` columns
/// and `k` elements of `tau`, `k <= n <= m`; otherwise the error is `dimension_is_too_short`. The
/// other dimensions may be split.
///
///     auto q = linalg::householder_product(a, tau);    // f32[8@data, 6, 4], f32[8@data, 3]
template <NamedOperand A, NamedOperand Tau, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr detail::matrix_outcome<householder_product_of, Given, A, Tau>
householder_product(A&& a, Tau&& tau, const Given& given = {}) {
  return detail::carry_out_on_matrices<householder_product_of, Given, A, Tau>(
      given, static_cast<A&&>(a), static_cast<Tau&&>(tau));
}

}  // namespace linalg

}  // namespace shardwise
