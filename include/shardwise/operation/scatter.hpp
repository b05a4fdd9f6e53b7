// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/across.hpp"
#include "shardwise/operation/out_of_range.hpp"
#include "shardwise/operation/over.hpp"

namespace shardwise {

/// What becomes of an element that something is scattered to.
enum class scatter_mode : std::uint8_t { set, add, max, min };

/// The operation that puts the elements of its third operand to the indices along a dimension of
/// the first which the second holds. The integers are the dimension, the `scatter_mode` and the
/// `out_of_range`.
struct scatter_operation {
  static constexpr text_view name = "scatter";

  [[nodiscard]] static constexpr attributes how(int dim, scatter_mode what,
                                                out_of_range mode) noexcept {
    return integer_attributes(dim, static_cast<int>(what), static_cast<int>(mode));
  }
  /// Each device looks for the indices that it has, so that the dimension may be split; it needs
  /// all of the indices.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    const int rank = operands[0].rank();
    factor_rule out = same_dimensions_rule(linearity::nonlinear, rank);
    factor_map chosen, given;
    for (int d = 0; d < operands[1].rank(); ++d) {
      chosen.push_back(static_cast<std::uint8_t>(rank + d));
      out.factors.push_back(factor_kind::need_replication);
    }
    for (int d = 0; d < rank; ++d) {
      if (d != dim) given.push_back(static_cast<std::uint8_t>(d));
      if (d == dim)
        for (std::uint8_t f : chosen) given.push_back(f);
    }
    out.operands.push_back(chosen);
    out.operands.push_back(given);
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank() - 1 + operands[1].rank();
    if (rank > max_rank) return {.rule = broken::rank_is_too_high, .have = rank, .want = max_rank};
    return over(how.integers[0]).judge(operands[0].rank());
  }
  /// Truth values are only set.
  [[nodiscard]] static constexpr element_verdict check_elements(
      const attributes& how, const tensor_descs& operands) noexcept {
    const bool is_set = how.integers[1] == static_cast<int>(scatter_mode::set);
    const element_verdict alike = check_alike({operands[0], operands[2]}, 0, is_set);
    if (alike.fault != element_fault::nothing) return {alike.fault, alike.operand * 2};
    return check_indices(operands, 1, 2);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    const bool is_set = how.integers[1] == static_cast<int>(scatter_mode::set);
    return {.flops =
                is_set ? 0 : largest_shard_size(mesh, operands[2].layout, operands[2].extents)};
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    constexpr text_view words[] = {"scatter_set", "scatter_add", "scatter_max", "scatter_min"};
    return words_of(words[how.integers[1]], integer_attributes(how.integers[0]));
  }
};

/// The operation that sums the elements of its first operand by the indices which the second holds
/// along a dimension. Its integers are the dimension, the number of sums and the `out_of_range`.
struct segment_sum_operation {
  static constexpr text_view name = "segment_sum";

  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const auto dim = static_cast<int>(how.integers[0]);
    const int rank = operands[0].rank();
    const int summed = operands[1].rank();
    factor_rule out = same_dimensions_rule(linearity::first_operand, rank);
    factor_map chosen;
    for (int d = dim; d < dim + summed; ++d) {
      out.factors[d] = factor_kind::reduction;
      chosen.push_back(static_cast<std::uint8_t>(d));
    }
    out.operands.push_back(chosen);
    out.result.clear();
    for (int d = 0; d < dim; ++d) out.result.push_back(static_cast<std::uint8_t>(d));
    out.result.push_back(static_cast<std::uint8_t>(rank));
    for (int d = dim + summed; d < rank; ++d) out.result.push_back(static_cast<std::uint8_t>(d));
    out.factors.push_back(factor_kind::pass_through);
    out.sizes = out.given_sizes();
    out.sizes[rank] = how.integers[1];
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int dim = static_cast<int>(how.integers[0]), rank = operands[0].rank();
    if (how.integers[1] < 0) return {.rule = broken::extent_is_negative, .have = how.integers[1]};
    if (dim >= 0 && dim + operands[1].rank() <= rank && rank - operands[1].rank() < max_rank)
      return {};
    return {.rule = broken::dimension_is_out_of_range,
            .have = dim < 0 ? dim : dim + operands[1].rank() - 1,
            .want = rank};
  }
  [[nodiscard]] static constexpr element_verdict check_elements(
      const attributes&, const tensor_descs& operands) noexcept {
    const element_verdict numbers = check_alike({operands[0]});
    return numbers.fault != element_fault::nothing ? numbers : check_indices(operands, 1, 2);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    return {.flops = largest_shard_size(mesh, operands[0].layout, operands[0].extents)};
  }
  [[nodiscard]] static constexpr text<47> label(const attributes& how) noexcept {
    return words_of(name, integer_attributes(how.integers[0], how.integers[1]));
  }
};

/// The two as types have them.
template <int Dim, scatter_mode What, out_of_range Mode>
struct scatter_of {
  using operation_class = scatter_operation;
  static constexpr attributes how = scatter_operation::how(Dim, What, Mode);
};
template <int Dim, index_t Count, out_of_range Mode>
struct segment_sum_of {
  using operation_class = segment_sum_operation;
  static constexpr attributes how = integer_attributes(Dim, Count, static_cast<int>(Mode));
};

/// The tensor with `updates` put to the indices along a dimension: set, added, or the larger or the
/// smaller of both. `updates` has the dimensions that `take<Dim>(x, indices)` has. Of equal indices
/// the last one is set; sums are taken in the order of the indices.
///
/// The dimension may be split, since each device looks for the indices that it has; the indices and
/// the dimensions of `updates` that are theirs are needed whole. Nothing may be pending.
///
///     auto y = scatter<0, scatter_mode::add>(x, at, rows);   // f32[50@model, 8], i32[4], f32[4,
///     8]
template <int Dim, scatter_mode What = scatter_mode::set, out_of_range Mode = out_of_range::error,
          NamedOperand X, NamedOperand Indices, NamedOperand Updates, fixed_string... Axes>
[[nodiscard]] constexpr auto scatter(X&& x, Indices&& indices, Updates&& updates,
                                     across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<scatter_of<Dim, What, Mode>>(permitted, static_cast<X&&>(x),
                                                             static_cast<Indices&&>(indices),
                                                             static_cast<Updates&&>(updates))) {
  return apply_operation<scatter_of<Dim, What, Mode>>(permitted, static_cast<X&&>(x),
                                                      static_cast<Indices&&>(indices),
                                                      static_cast<Updates&&>(updates));
}

/// `Count` sums of elements: each goes to the sum whose number `ids` holds at its place. The
/// dimensions of `ids` are those of `x` from `Dim` on, in whose place the result has one. Where
/// they are split the result is a pending sum: this is what `take` is turned into by a gradient.
///
///     auto counted = segment_sum<0, 10>(x, ids);     // f32[64@data, 8], i32[64@data] ->
///                                                    // f32[10, 8]{partial sum: data}
template <int Dim, index_t Count, out_of_range Mode = out_of_range::error, NamedOperand X,
          NamedOperand Ids, fixed_string... Axes>
[[nodiscard]] constexpr auto segment_sum(X&& x, Ids&& ids, across_axes<Axes...> permitted = {})
    -> decltype(apply_operation<segment_sum_of<Dim, Count, Mode>>(permitted, static_cast<X&&>(x),
                                                                  static_cast<Ids&&>(ids))) {
  return apply_operation<segment_sum_of<Dim, Count, Mode>>(permitted, static_cast<X&&>(x),
                                                           static_cast<Ids&&>(ids));
}

}  // namespace shardwise
