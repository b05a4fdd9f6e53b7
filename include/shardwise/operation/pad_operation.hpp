// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <cstdint>

namespace shardwise {

struct slice_operation;

/// The values that a tensor is padded with: a number, copies of the elements at the edge, or the
/// elements within, reflected at the edge, which itself is not repeated.
enum class pad_mode : std::uint8_t { constant, edge, reflect };

/// The operation that adds elements before and after those of a tensor. Its integers are the
/// numbers of elements before and after, for each dimension; its number is the mode. A second
/// operand, of rank 0, is the number to pad with; the default is 0.
struct pad_operation {
  static constexpr text_view name = "pad";
  static constexpr views_read reads = views_read::any;

  [[nodiscard]] static constexpr pad_mode mode(const attributes& how) noexcept {
    return static_cast<pad_mode>(static_cast<int>(how.number));
  }
  /// Returns the attributes for zeros before and after the elements of one dimension.
  [[nodiscard]] static constexpr attributes how_along(int rank, int dim, index_t before,
                                                      index_t behind) noexcept {
    attributes out;
    for (int d = 0; d < rank; ++d) {
      out.integers.push_back(d == dim ? before : 0);
      out.integers.push_back(d == dim ? behind : 0);
    }
    return out;
  }
  /// Returns which of `size` elements is copied to position `at`, before or after them.
  [[nodiscard]] static constexpr index_t source_of(pad_mode mode, index_t at,
                                                   index_t size) noexcept {
    if (mode == pad_mode::edge || size == 1) return at < 0 ? 0 : size - 1;
    const index_t period = 2 * (size - 1);
    const index_t along = (at % period + period) % period;
    return along < size ? along : period - along;
  }
  /// A dimension padded with a number is read through windows of one element; one padded with its
  /// own elements must not be split. Padding with zeros keeps a pending sum pending; padding with
  /// elements of the tensor keeps any pending reduction.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    const linearity law = operands.size() > 1               ? linearity::nonlinear
                          : mode(how) == pad_mode::constant ? linearity::additive
                                                            : linearity::structural;
    factor_rule out = same_dimensions_rule(law, rank);
    for (int d = 0; d < rank; ++d) {
      const index_t before = how.integers[2 * d], behind = how.integers[2 * d + 1];
      const index_t added = size_sum(before, behind);
      if (added == 0) continue;
      if (mode(how) == pad_mode::constant) {
        const auto padded = static_cast<std::uint8_t>(out.factors.ssize());
        out.factors[d] = factor_kind::blocked;
        out.factors.push_back(factor_kind::pass_through);
        out.sizes = out.given_sizes();
        out.windows.push_back(
            {static_cast<std::uint8_t>(d), padded, {1, 1, before, behind, 1}, true});
        out.result[d] = padded;
        continue;
      }
      out.factors[d] = factor_kind::need_replication;
      const auto padding = static_cast<std::uint8_t>(out.factors.ssize());
      const auto whole = static_cast<std::uint8_t>(padding + 1);
      out.factors.push_back(factor_kind::pass_through);
      out.factors.push_back(factor_kind::pass_through);
      out.sizes = out.given_sizes();
      out.sizes[padding] = added;
      out.composites.push_back({whole, composition::sum, {static_cast<std::uint8_t>(d), padding}});
      out.result[d] = whole;
    }
    if (operands.size() > 1) out.operands.push_back({});
    return out;
  }
  /// Checks that there are two numbers for each dimension, that none is negative, and that there
  /// are elements to repeat.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank();
    if (how.integers.ssize() != 2 * rank)
      return {.rule = violation::operand_rank_differs,
              .operand = 0,
              .have = rank,
              .want = how.integers.ssize() / 2};
    int factors = rank;
    for (int d = 0; d < rank; ++d) {
      const index_t before = how.integers[2 * d], behind = how.integers[2 * d + 1];
      if (before < 0 || behind < 0)
        return {.rule = violation::amount_is_out_of_range,
                .dim = d,
                .have = before < 0 ? before : behind,
                .want = 0};
      if (before == 0 && behind == 0) continue;
      // Its own elements need a factor for the padding, and one for the whole.
      factors += mode(how) == pad_mode::constant ? 1 : 2;
      if (mode(how) != pad_mode::constant && operands[0].extents[d] == 0)
        return {.rule = violation::slice_is_out_of_range, .operand = 0, .dim = d};
    }
    if (factors > max_factors)
      return {.rule = violation::rank_is_too_high, .have = factors, .want = max_factors};
    return {};
  }
  /// Elements are numbers; they may be `bool` if the tensor is padded with its own elements.
  [[nodiscard]] static constexpr diagnosis check_elements(const attributes&,
                                                          const tensor_descs& operands) noexcept {
    return check_alike(operands, 0, true);
  }
  [[nodiscard]] static constexpr bounded_text<47> label(const attributes& how) noexcept {
    constexpr text_view words[] = {"pad", "pad_edge", "pad_reflect"};
    return words_of(words[static_cast<int>(mode(how))], how);
  }
  using emits = emitted_operations<slice_operation, flip_operation, pad_operation>;
  /// The cotangents of repeated elements are added to those of the elements that they were copied
  /// from.
  static constexpr void gradient(gradient_step& at);
};

}  // namespace shardwise
