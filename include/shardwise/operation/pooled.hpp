// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/windowed.hpp"

namespace shardwise::internal {

/// The common part of operations on the elements of windows. Their attributes are those of
/// `window_attributes`, where the dilation of a convolution is the size of a window, and the last
/// integer is the divisor of sums. Windows span the last dimensions of the operand, as many as
/// there are sizes.
struct pooled {
  using how_type = window_attributes;

  [[nodiscard]] static constexpr int dimensions(const attributes& how) noexcept {
    return static_cast<int>(how_type::extents_given(how));
  }
  /// Returns the numbers of a spatial dimension; the default stride is the size of the window.
  [[nodiscard]] static constexpr window_numbers at(const attributes& how, int d) noexcept {
    window_numbers out = how_type::at(how, dimensions(how), d);
    if (how_type::strides_given(how) == 0) out.stride = out.extent;
    return out;
  }
  /// Returns which elements the windows of a result read.
  [[nodiscard]] static constexpr dimension_window forward(const attributes& how, int d) noexcept {
    const window_numbers one = at(how, d);
    return {one.extent, one.stride, one.low, one.high, one.spacing};
  }
  /// Returns which of `count` windows read each of `size` elements.
  [[nodiscard]] static constexpr dimension_window backward(const attributes& how, int d,
                                                           index_t size, index_t count) noexcept {
    const window_numbers one = at(how, d);
    dimension_window out{one.extent, one.spacing, one.extent - 1 - one.low, 0, one.stride};
    if (size != dyn && count != dyn)
      out.high = (size - 1) * one.spacing + one.extent - out.low - out.spread(count);
    return out;
  }
  /// The factors of each dimension of the operand, followed by those of the windows.
  struct factors {
    factor_rule rule{};
    factor_map source{}, windows{};
  };
  [[nodiscard]] static constexpr factors factors_of(const attributes& how, int rank,
                                                    factor_kind source,
                                                    factor_kind windows) noexcept {
    factors out;
    const int leading = rank - dimensions(how);
    for (int d = 0; d < rank; ++d) {
      out.rule.factors.push_back(d < leading ? factor_kind::pass_through : source);
      out.source.push_back(static_cast<std::uint8_t>(d));
    }
    out.windows = out.source;
    for (int d = leading; d < rank; ++d) {
      out.windows[d] = static_cast<std::uint8_t>(out.rule.factors.ssize());
      out.rule.factors.push_back(windows);
    }
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank(), count = dimensions(how);
    if (count < 1 || count > window_numbers::most_dimensions)
      return {.rule = violation::window_does_not_fit, .have = count, .want = 1};
    if (rank < count || rank + count > max_factors || rank > max_rank)
      return {.rule = violation::operand_rank_differs, .operand = 0, .have = rank, .want = count};
    if (const diagnosis numbers = how_type::check(how, count, true); !numbers.ok()) return numbers;
    for (int d = 0; d < count; ++d) {
      const int dim = rank - count + d;
      const index_t have = operands[0].extents[dim];
      const dimension_window reads = forward(how, d);
      const index_t room = have == dyn ? dyn : reads.spread(have) + reads.low + reads.high;
      if (have != dyn && reads.high >= 0 && room < reads.span)
        return {.rule = violation::window_does_not_fit,
                .operand = 0,
                .dim = dim,
                .have = room,
                .want = reads.span};
    }
    return {};
  }
  /// One operation for each element of each window.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_desc& windows) noexcept {
    index_t flops = largest_shard_size(mesh, windows.layout, windows.extents);
    for (int d = 0; d < dimensions(how); ++d) flops *= at(how, d).extent;
    return {.flops = flops};
  }
};

}  // namespace shardwise::internal
