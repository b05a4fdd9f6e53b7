// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/by_extents.hpp"
#include "shardwise/operation/gathered_call.hpp"
#include "shardwise/operation/roll.hpp"

namespace shardwise {

/// The vector product on abstract tensors; its integer is the dimension of the vectors, counted
/// from the end of each operand if it is negative. It is computed as a composition of other
/// operations.
struct cross_operation {
  static constexpr text_view name = "cross";
  static constexpr dims_among names{.of_each = true};

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    factor_rule out =
        elementwise_rule(linearity::multilinear, {operands[0].extents, operands[1].extents});
    out.factors[dim_in(how, out.result.ssize())] = factor_kind::need_replication;
    return out;
  }
  /// Checks that vectors have three elements, and that they are in the same dimension.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    for (int o = 0; o < operands.ssize(); ++o) {
      const int rank = operands[o].rank(), dim = dim_in(how, rank);
      if (const diagnosis known = over(dim).judge(rank); !known.ok()) return known;
      if (how.integers[0] >= 0 && rank != operands[0].rank())
        return {.rule = violation::operand_rank_differs,
                .operand = o,
                .have = rank,
                .want = operands[0].rank()};
      if (operands[o].extents[dim] != 3)
        return {.rule = violation::operand_sizes_differ,
                .operand = o,
                .dim = dim,
                .have = operands[o].extents[dim],
                .want = 3};
    }
    return {};
  }
  /// Returns the roll after which each element is `places`, 1 or 2, before where it was.
  [[nodiscard]] static constexpr attributes turning(int dim, index_t places, int rank) noexcept {
    return roll_operation::how(dim_in(integer_attributes(dim), rank), 3 - places);
  }

 private:
  [[nodiscard]] static constexpr int dim_in(const attributes& how, int rank) noexcept {
    return static_cast<int>(counted_from_front(how.integers[0], rank));
  }
};

/// The operation whose attributes are types.
template <int Dim>
struct cross_of {
  using operation_class = cross_operation;
  static constexpr attributes how = integer_attributes(Dim);
};

namespace detail {
template <int Dim, index_t Places>
[[nodiscard]] constexpr attributes turning_by(const extents_desc& extents) noexcept {
  return cross_operation::turning(Dim, Places, extents.ssize());
}
template <int Dim>
struct cross_steps {
  template <class A, class B>
  [[nodiscard]] static constexpr auto apply(const A& a, const B& b) {
    return turned<1>(a) * turned<2>(b) - turned<2>(a) * turned<1>(b);
  }

 private:
  template <index_t Places, class X>
  [[nodiscard]] static constexpr auto turned(const X& x) {
    return apply_by_extents<roll_operation, &turning_by<Dim, Places>>(x);
  }
};
template <int Dim, class Permitted>
using cross_call = gathered_call<cross_of<Dim>, Permitted, cross_steps<Dim>>;
}  // namespace detail

/// Returns the vector products of vectors of three elements along a dimension; a negative one
/// counts from the end of each operand, and the default is the last. The other dimensions
/// broadcast, and may be split; that of the vectors must not be split, or is gathered over
/// permitted axes. Pending sums stay pending.
///
///     auto n = cross(u, v);                // f32[8@data, 3], f32[8@data, 3] -> f32[8@data, 3]
template <int Dim = -1, NamedOperand A, NamedOperand B, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr internal::outcome_on<detail::cross_call<Dim, internal::permitted_by<Given>>,
                                             Given, const A&, const B&>
cross(const A& a, const B& b, const Given& given = {}) {
  return internal::carry_out_on<detail::cross_call<Dim, internal::permitted_by<Given>>>(given, a,
                                                                                        b);
}

}  // namespace shardwise
