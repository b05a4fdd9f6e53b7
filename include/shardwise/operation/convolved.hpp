// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/channels.hpp"
#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/operation/reshape.hpp"
#include "shardwise/operation/transpose.hpp"
#include "shardwise/operation/windowed.hpp"
#include "shardwise/rule/gradient_step.hpp"

#include <type_traits>

namespace shardwise::detail {

/// The common part of a convolution and its gradients: the numbers of its windows, and its factors.
struct convolved {
  using numbers = inplace_vector<window_numbers, window_numbers::most_dimensions>;

  /// Returns the window of `size` elements at distance `one.extent`.
  [[nodiscard]] static constexpr dimension_window window_of(const window_numbers& one,
                                                            index_t size) noexcept {
    return {size == dyn ? dyn : (size - 1) * one.extent + 1, one.stride, one.low, one.high,
            one.spacing};
  }
  /// Returns the number of elements on the device with the largest part of a dimension that two
  /// tensors share.
  [[nodiscard]] static constexpr index_t least_part(const mesh_desc& mesh, const tensor_desc& a,
                                                    int of_a, const tensor_desc& b,
                                                    int of_b) noexcept {
    const auto part = [&](const tensor_desc& x, int d) {
      return largest_part(mesh, x.layout.dims[d], x.layout.grains[d].without_halo(), x.extents[d]);
    };
    const index_t first = part(a, of_a), second = part(b, of_b);
    return first < second ? first : second;
  }

  /// The factors of inputs [n, c, s...], weights [o, c / groups, k...] and results [n, o, p...];
  /// the caller, who knows their sizes, adds the windows.
  struct factors {
    factor_rule rule{};
    factor_map inputs{}, weights{}, results{};
  };
  [[nodiscard]] static constexpr factors factors_of(int dimensions, index_t groups) noexcept {
    factors out;
    const auto add = [&](factor_kind kind) {
      out.rule.factors.push_back(kind);
      return static_cast<std::uint8_t>(out.rule.factors.ssize() - 1);
    };
    const bool has_groups = groups != 1;
    const std::uint8_t batch = add(factor_kind::pass_through);
    const std::uint8_t in = add(has_groups ? factor_kind::pass_through : factor_kind::reduction);
    const std::uint8_t made = add(factor_kind::pass_through);
    out.inputs = {batch, in};
    out.weights = {made, in};
    out.results = {batch, made};
    if (has_groups) {
      const std::uint8_t group = add(factor_kind::pass_through);
      out.weights[1] = add(factor_kind::reduction);
      const std::uint8_t each = add(factor_kind::pass_through);
      out.rule.composites.push_back({in, composition::product, {group, out.weights[1]}});
      out.rule.composites.push_back({made, composition::product, {group, each}});
      out.rule.sizes = out.rule.given_sizes();
      out.rule.sizes[group] = groups;
    }
    for (int d = 0; d < dimensions; ++d) {
      out.inputs.push_back(add(factor_kind::blocked));
      out.weights.push_back(add(factor_kind::need_replication));
      out.results.push_back(add(factor_kind::pass_through));
    }
    if (has_groups) out.rule.sizes = out.rule.given_sizes();
    out.rule.law = linearity::multilinear;
    return out;
  }
  /// Checks the ranks of two operands, and that the number of groups divides the channels: the
  /// second dimension of the first operand, and the given dimension of the second.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands, int other) noexcept {
    const int rank = operands[0].rank();
    if (rank < 3 || rank > 2 + window_numbers::most_dimensions)
      return {.rule = violation::operand_rank_differs,
              .operand = 0,
              .have = rank,
              .want = rank < 3 ? 3 : 2 + window_numbers::most_dimensions};
    if (operands[1].rank() != rank)
      return {.rule = violation::operand_rank_differs,
              .operand = 1,
              .have = operands[1].rank(),
              .want = rank};
    const index_t groups = window_attributes::groups(how);
    for (int o = 0; o < 2; ++o) {
      const int d = o == 0 ? 1 : other;
      const diagnosis verdict = check_groups(operands[o].extents[d], groups, o, d);
      if (!verdict.ok()) return verdict;
    }
    return {};
  }
  /// Returns the weights with inputs and outputs exchanged, and with flipped windows; each step is
  /// `apply(type of the operation, attributes, weights)`.
  template <class Weights, class Apply>
  [[nodiscard]] static constexpr Weights turned(const Weights& weights, const extents_desc& have,
                                                index_t groups, const Apply& apply) {
    attributes flipped, order;
    for (int d = 2; d < have.ssize(); ++d) flipped.integers.push_back(d);
    const Weights back = apply(std::type_identity<flip_operation>{}, flipped, weights);
    extents_desc grouped{groups, have[0] / groups, have[1]}, joined{groups * have[1], grouped[1]};
    for (int d = 2; d < have.ssize(); ++d) {
      grouped.push_back(have[d]);
      joined.push_back(have[d]);
    }
    const int skipped = groups == 1 ? 1 : 0;
    for (int d = skipped; d < grouped.ssize(); ++d)
      order.integers.push_back((d == 1 ? 2 : d == 2 ? 1 : d) - skipped);
    const std::type_identity<transpose_operation> transpose;
    if (groups == 1) return apply(transpose, order, back);
    const std::type_identity<reshape_operation> reshape;
    return apply(reshape, reshape_operation::how(joined),
                 apply(transpose, order, apply(reshape, reshape_operation::how(grouped), back)));
  }
  [[nodiscard]] static constexpr gradient_value turned(const gradient_value& weights,
                                                       index_t groups) {
    return turned(weights, weights.tensor().extents, groups,
                  []<class Class>(std::type_identity<Class>, const attributes& how,
                                  const gradient_value& x) { return emit<Class>(how, x); });
  }
  /// Returns the cotangent of the inputs of a convolution, given that of its results: a convolution
  /// with the flipped weights of results that are as far apart as windows are.
  [[nodiscard]] static constexpr gradient_value input_cotangent(const numbers& all, index_t groups,
                                                                const extents_desc& inputs,
                                                                const gradient_value& cotangent,
                                                                const gradient_value& weights);
};

}  // namespace shardwise::detail
