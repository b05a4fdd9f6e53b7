// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/norm.hpp"
#include "shardwise/operation/reduce.hpp"
#include "shardwise/operation/squeeze.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/rule/contraction_order.hpp"
#include "shardwise/rule/einsum.hpp"

namespace shardwise {

/// The distances of rows on abstract tensors. They are computed as a composition of other
/// operations.
struct cdist_operation {
  static constexpr text_view name = "cdist";
  static constexpr bool has_fractions = true;

  /// That of a matrix product, but with whole columns.
  [[nodiscard]] static constexpr factor_rule rule(const attributes&,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out = parse_einsum(named_dimensions("...ik,...jk->...ij",
                                                    {operands[0].extents, operands[1].extents}))
                          .rule;
    out.law = linearity::nonlinear;
    out.factors[out.operands[0][operands[0].rank() - 1]] = factor_kind::need_replication;
    return out;
  }
  /// Checks that both are matrices with the same number of columns.
  [[nodiscard]] static constexpr diagnosis check(const attributes&,
                                                 const tensor_descs& operands) noexcept {
    for (int o = 0; o < operands.ssize(); ++o)
      if (operands[o].rank() < 2)
        return {.rule = violation::operand_rank_differs,
                .operand = o,
                .have = operands[o].rank(),
                .want = 2};
    const index_t have = columns(operands[1]), want = columns(operands[0]);
    if (have == want || have == dyn || want == dyn) return {};
    return {.rule = violation::operand_sizes_differ,
            .operand = 1,
            .dim = operands[1].rank() - 1,
            .have = have,
            .want = want};
  }
  /// Return the position of a dimension of size 1 behind the rows of the first operand, and before
  /// those of the second.
  [[nodiscard]] static constexpr attributes behind_rows(const extents_desc& first) noexcept {
    return integer_attributes(first.ssize() - 1);
  }
  [[nodiscard]] static constexpr attributes before_rows(const extents_desc& second) noexcept {
    return integer_attributes(second.ssize() - 2);
  }
  /// Returns the attributes of the sum over the last dimension of the differences.
  [[nodiscard]] static constexpr attributes adding(const extents_desc& differences) noexcept {
    return reduction_operation::how(reduction::sum, 1U << (differences.ssize() - 1), false);
  }

 private:
  [[nodiscard]] static constexpr index_t columns(const tensor_desc& x) noexcept {
    return x.extents[x.rank() - 1];
  }
};

/// The operation as a type.
struct cdist_of : without_attributes<cdist_operation> {};

namespace detail {
struct cdist_steps {
  template <class A, class B>
  [[nodiscard]] static constexpr auto apply(const A& a, const B& b) {
    // In one expression, so that the sum computes the squares in its own loop.
    return narrowed<typename A::value_type>(
        root_of_squares(apply_by_extents<sum_of_squares_operation, &cdist_operation::adding,
                                         squares_type<typename A::value_type>>(
            apply_by_extents<unsqueeze_operation, &cdist_operation::behind_rows>(widened(a)) -
            apply_by_extents<unsqueeze_operation, &cdist_operation::before_rows>(widened(b)))));
  }
};
template <class Permitted>
using cdist_call = gathered_call<cdist_of, Permitted, cdist_steps>;
}  // namespace detail

/// Returns the Euclidean distance of each row of `a` from each row of `b`; rows and columns are the
/// last two dimensions, and those before are a batch, which broadcasts. Distances are computed from
/// the differences of elements, not from products, so that those of close rows are accurate; the
/// differences are not stored. The gradient is 0 where the distance is.
///
/// Rows and batches may be split; columns must not be, or are gathered over permitted axes.
///
///     auto d = cdist(a, b);                // f32[8@data, 16], f32[6, 16] -> f32[8@data, 6]
template <NamedOperand A, NamedOperand B, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::cdist_call<internal::permitted_by<Given>>,
                                             Given, const A&, const B&>
cdist(const A& a, const B& b, const Given& given = {}) {
  return internal::carry_out_on<detail::cdist_call<internal::permitted_by<Given>>>(given, a, b);
}

}  // namespace shardwise
