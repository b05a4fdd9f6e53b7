// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/einsum_operation.hpp"
#include "shardwise/operation/normalising.hpp"
#include "shardwise/operation/number.hpp"
#include "shardwise/operation/transpose.hpp"
#include "shardwise/operation/triangle.hpp"

namespace shardwise::detail {

/// The call of an operation on floating-point matrices.
template <class Operation, class Permitted>
using matrix_call = fractional_call<Operation, fetching_call<Operation, Permitted>>;
template <class Operation, class Given, class... X>
using matrix_outcome = outcome_on<matrix_call<Operation, permitted_by<Given>>, Given, X...>;
template <class Operation, class Given, class... X>
[[nodiscard]] constexpr matrix_outcome<Operation, Given, X...> carry_out_on_matrices(
    const Given& given, X&&... x) {
  return carry_out_on<matrix_call<Operation, permitted_by<Given>>>(given, static_cast<X&&>(x)...);
}

/// The common part of operations on matrices, the last two dimensions of their first operand, which
/// each device needs whole. All other dimensions are a batch and may be split.
struct of_matrices {
  /// Returns the rule of an operation whose result has the extents of its operand.
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
    out.factors[rank - 2] = out.factors[rank - 1] = factor_kind::need_replication;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check_rank(const tensor_desc& x) noexcept {
    if (x.rank() >= 2) return {};
    return {.rule = violation::operand_rank_differs, .operand = 0, .have = x.rank(), .want = 2};
  }
  /// Returns the cost of this many operations for each element of a matrix, its rows and columns.
  [[nodiscard]] static constexpr operation_cost cost_of(const mesh_desc& mesh, const tensor_desc& x,
                                                        index_t for_each) noexcept {
    return {.flops = largest_shard_size(mesh, x.layout, x.extents) * for_each};
  }
};

/// The same for square matrices.
struct of_square_matrices : of_matrices {
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    return check_square(operands[0]);
  }
  [[nodiscard]] static constexpr diagnosis check_square(const tensor_desc& x) noexcept {
    if (const diagnosis ranked = check_rank(x); !ranked.ok()) return ranked;
    const int rank = x.rank();
    const index_t rows = x.extents[rank - 2], columns = x.extents[rank - 1];
    if (rows == columns || rows == dyn || columns == dyn) return {};
    return {.rule = violation::operand_sizes_differ,
            .operand = 0,
            .dim = rank - 1,
            .have = columns,
            .want = rows};
  }
};

/// The same for square matrices and right-hand sides: the second operand has the columns of each,
/// which may be split, or one vector for each, if its rank is one less.
struct of_linear_systems : of_square_matrices {
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    factor_rule out = of_square_matrices::rule(how, operands);
    factor_map sides = out.operands[0];
    sides.pop_back();
    if (has_columns(operands)) {
      sides.push_back(static_cast<std::uint8_t>(rank));
      out.factors.push_back(factor_kind::pass_through);
    }
    out.operands.push_back(sides);
    out.result = sides;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    if (const diagnosis square = check_square(operands[0]); !square.ok()) return square;
    const int rank = operands[0].rank();
    if (operands[1].rank() == rank || operands[1].rank() == rank - 1) return {};
    return {.rule = violation::operand_rank_differs,
            .operand = 1,
            .have = operands[1].rank(),
            .want = rank};
  }
  [[nodiscard]] static constexpr bool has_columns(const tensor_descs& operands) noexcept {
    return operands[1].rank() == operands[0].rank();
  }
};

/// Returns the product of two values with a common batch; `first`, `second` and `made` are the
/// letters of their dimensions after it.
[[nodiscard]] constexpr gradient_value batched_product(const gradient_value& a, text_view first,
                                                       const gradient_value& b, text_view second,
                                                       text_view made) {
  const int batch = a.tensor().rank() - static_cast<int>(first.size());
  bounded_text<47> words;
  const auto add = [&](text_view letters) {
    for (int d = 0; d < batch; ++d) words << static_cast<char>('a' + d);
    words << letters;
  };
  add(first);
  words << ',';
  add(second);
  words << "->";
  add(made);
  return emit<einsum_operation>(einsum_operation::how(words), a, b);
}
/// Returns the transposes of matrices.
[[nodiscard]] constexpr gradient_value transposed(const gradient_value& x) {
  const int rank = x.tensor().rank();
  attributes order;
  for (int d = 0; d < rank - 2; ++d) order.integers.push_back(d);
  order.integers.push_back(rank - 1);
  order.integers.push_back(rank - 2);
  return emit<transpose_operation>(order, x);
}
/// Returns the lower triangles of matrices with half of their diagonals.
[[nodiscard]] constexpr gradient_value lower_half(const gradient_value& x) {
  return (emit<tril_operation>(tril_operation::how(0), x) +
          emit<tril_operation>(tril_operation::how(-1), x)) *
         0.5;
}

/// Returns the matrices of a composed operation, gathered over permitted axes, in the type used for
/// arithmetic.
template <class Operation, class Permitted, class X>
[[nodiscard]] constexpr auto whole_matrices(const X& given) {
  return widened(fetching_call<Operation, Permitted>::gathered(given));
}

}  // namespace shardwise::detail
