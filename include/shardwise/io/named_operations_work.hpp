// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/attention_gradient.hpp"
#include "shardwise/operation/catalogue.hpp"
#include "shardwise/operation/cumprod.hpp"
#include "shardwise/operation/semiring.hpp"
#include "shardwise/operation/sum_of_squares.hpp"
#include "shardwise/plan/manual_operation.hpp"
#include "shardwise/plan/structure.hpp"

#include <array>
#include <cstddef>

namespace shardwise::internal {

/// Operations that programs contain and no function of the catalogue is called for: the steps of
/// composed operations, and those that gradients emit. Their attributes are written as they are.
namespace further {

[[nodiscard]] constexpr diagnosis check_dimension(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
  for (const tensor_desc& one : operands)
    if (one.rank() != operands[0].rank())
      return {
          .rule = violation::operand_rank_differs, .have = one.rank(), .want = operands[0].rank()};
  return over(how.integers[0]).judge(operands[0].rank());
}
/// Bits of dimensions that an operand does not have reduce nothing.
[[nodiscard]] constexpr diagnosis check_reduced(const attributes& how,
                                                const tensor_descs&) noexcept {
  const index_t bits = how.integers[0];
  if (bits < 0 || bits >= index_t{1} << max_rank)
    return {.rule = violation::dimension_is_out_of_range, .have = bits, .want = max_rank};
  return {};
}
[[nodiscard]] constexpr diagnosis check_equation(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
  attributes of = how;
  of.integers = {0};
  return contraction_judge::check(of, operands);
}
/// The gradients of a pooling read a source, and one or two tensors of its windows.
template <bool FirstIsSource>
[[nodiscard]] constexpr diagnosis check_pooled(const attributes& how,
                                               const tensor_descs& operands) noexcept {
  const int dimensions = pooled::dimensions(how), rank = operands[0].rank();
  if (dimensions < 1 || dimensions > window_numbers::most_dimensions || rank < dimensions)
    return {.rule = violation::window_does_not_fit, .have = dimensions, .want = rank};
  for (const tensor_desc& one : operands) {
    if (one.rank() != rank)
      return {.rule = violation::operand_rank_differs, .have = one.rank(), .want = rank};
    for (int d = rank - dimensions; d < rank; ++d)
      if (one.extents[d] == dyn || one.extents[d] > index_t{1} << 30U)
        return {.rule = violation::window_does_not_fit, .dim = d, .have = one.extents[d]};
  }
  return window_attributes::check(how, dimensions, true);
}
[[nodiscard]] constexpr diagnosis check_stencil_weights(const attributes& how,
                                                        const tensor_descs& operands) noexcept {
  const index_t dimensions = window_attributes::extents_given(how);
  const int rank = operands[0].rank();
  if (dimensions < 1 || dimensions > window_numbers::most_dimensions || rank < dimensions ||
      operands[1].rank() != rank)
    return {.rule = violation::window_does_not_fit, .have = dimensions, .want = rank};
  return window_attributes::check(how, static_cast<int>(dimensions), true);
}
/// The first integer tells which keys are attended to, the second the operand of a cotangent.
[[nodiscard]] constexpr diagnosis check_attention(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
  tensor_descs given{operands[0], operands[1], operands[2]};
  if (operands.size() > 4) given.push_back(operands[4]);
  if (const diagnosis of = attention_operation::check(how, given); !of.ok()) return of;
  const index_t most = operands.ssize() - 1;
  if (how.integers[1] < 0 || how.integers[1] >= most)
    return {.rule = violation::amount_is_out_of_range, .have = how.integers[1], .want = most};
  return {};
}

/// The second gradient of attention reads what the gradient reads, and the cotangents of what it
/// computed.
[[nodiscard]] constexpr diagnosis check_attention_twice(const attributes& how,
                                                        const tensor_descs& operands) noexcept {
  const index_t computed = how.integers[2];
  const int own = attention_second_gradient_operation::own_operands(how, operands.ssize());
  if (computed < 0 || computed > 15 || own < 4 || own > 5 || (own < 5 && computed > 7))
    return {.rule = violation::amount_is_out_of_range, .have = computed, .want = 16};
  tensor_descs given;
  for (int o = 0; o < own; ++o) given.push_back(operands[o]);
  for (int o = own; o < operands.ssize(); ++o)
    if (operands[o].rank() != operands[0].rank() && operands[o].rank() < 3)
      return {.rule = violation::operand_rank_differs,
              .operand = o,
              .have = operands[o].rank(),
              .want = operands[0].rank()};
  attributes of = how;
  of.integers[1] = 0;
  if (how.integers[1] < 0 || how.integers[1] >= own)
    return {.rule = violation::amount_is_out_of_range, .have = how.integers[1], .want = own};
  return check_attention(of, given);
}

template <class Class>
[[nodiscard]] constexpr catalogued_operation one(
    int least = 1, int most = 1,
    diagnosis (*check)(const attributes&, const tensor_descs&) = nullptr) noexcept {
  catalogued_operation entry =
      internal::with_class<Class>({.name = Class::name, .least = least, .most = most});
  if (check != nullptr) entry.check = check;
  return entry;
}

}  // namespace further

inline constexpr catalogued_operation further_operations[] = {
    further::one<pointwise<functions::identity>>(),
    further::one<pointwise<functions::cast<float>>>(),
    further::one<pointwise<functions::cast<double>>>(),
    further::one<pointwise<functions::cast<std::int32_t>>>(),
    further::one<pointwise<functions::cast<std::int64_t>>>(),
    further::one<pointwise<functions::cast<bool>>>(),
    further::one<pointwise<functions::cast<std::int8_t>>>(),
    further::one<pointwise<functions::cast<std::uint8_t>>>(),
    further::one<pointwise<functions::cast<bfloat16>>>(),
    further::one<pointwise<functions::cast<float16>>>(),
    further::one<pointwise<functions::rounded_terms<float>>>(),
    further::one<pointwise<functions::rounded_terms<bfloat16>>>(),
    further::one<pointwise<functions::rounded_terms<float16>>>(),
    further::one<attention_gradient_operation>(4, 5, &further::check_attention),
    further::one<attention_gradients_operation>(4, 5, &further::check_attention),
    further::one<attention_second_gradient_operation>(5, max_operands,
                                                      &further::check_attention_twice),
    further::one<convolution_weights_operation>(2, 2),
    further::one<cummax_pick_operation>(2, 2, &further::check_dimension),
    further::one<cummax_share_operation>(2, 2, &further::check_dimension),
    further::one<cummin_pick_operation>(2, 2, &further::check_dimension),
    further::one<cummin_share_operation>(2, 2, &further::check_dimension),
    further::one<logcumsumexp_pick_operation>(2, 2, &further::check_dimension),
    further::one<logcumsumexp_share_operation>(2, 2, &further::check_dimension),
    further::one<eigenvectors_operation>(),
    further::one<orthonormal_columns_operation>(),
    further::one<singular_vectors_operation>(),
    further::one<slogdet_operation>(),
    further::one<einsum_operation>(1, max_operands, &further::check_equation),
    further::one<semiring_operation<max_plus_semiring>>(1, max_operands, &further::check_equation),
    further::one<semiring_operation<max_times_semiring>>(1, max_operands, &further::check_equation),
    further::one<semiring_operation<min_plus_semiring>>(1, max_operands, &further::check_equation),
    further::one<semiring_operation<or_and_semiring>>(1, max_operands, &further::check_equation),
    further::one<pool_matches_operation>(2, 3, &further::check_pooled<true>),
    further::one<pool_spread_operation>(3, 3, &further::check_pooled<true>),
    further::one<stencil_weights_operation>(2, 2, &further::check_stencil_weights),
    further::one<sum_of_squares_operation>(1, 1, &further::check_reduced),
    further::one<reduction_operation>(1, 1, &further::check_reduced),
};

/// Returns the entry of the operation of this name in programs, or null: for the checks of its
/// class, not for parameters.
[[nodiscard]] constexpr const catalogued_operation* find_named_operation(text_view name) noexcept {
  for (const catalogued_operation& one : further_operations)
    if (one.what->name == name) return &one;
  for (const catalogued_operation& one : catalogue)
    if (one.what != nullptr && one.what->name == name) return &one;
  return nullptr;
}

}  // namespace shardwise::internal
