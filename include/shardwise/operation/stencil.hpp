// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/operation/windowed.hpp"
#include "shardwise/rule/gradient_step.hpp"

namespace shardwise {

namespace detail {

/// The common part of a stencil and the cotangent of its weights. The attributes are those of
/// `window_attributes`; a stencil has a stride of 1, and no spacing.
struct stencilled {
  using numbers = inplace_vector<window_numbers, window_numbers::most_dimensions>;

  [[nodiscard]] static constexpr dimension_window window_of(const window_numbers& one,
                                                            index_t size) noexcept {
    return {size == dyn ? dyn : (size - 1) * one.extent + 1, 1, one.low, one.high, 1};
  }
  /// The factors of grids [..., s...], weights [k...] and results [..., p...]. The factors of the
  /// dimensions that are not spatial are `leading`.
  struct factors {
    factor_rule rule{};
    factor_map grid{}, weights{}, results{};
  };
  [[nodiscard]] static constexpr factors factors_of(int rank, int dimensions, factor_kind leading,
                                                    factor_kind weights,
                                                    factor_kind results) noexcept {
    factors out;
    const auto add = [&](factor_kind kind) {
      out.rule.factors.push_back(kind);
      return static_cast<std::uint8_t>(out.rule.factors.ssize() - 1);
    };
    for (int d = 0; d < rank - dimensions; ++d) out.grid.push_back(add(leading));
    out.results = out.grid;
    for (int d = 0; d < dimensions; ++d) {
      out.grid.push_back(add(factor_kind::blocked));
      out.weights.push_back(add(weights));
      out.results.push_back(add(results));
    }
    out.rule.law = linearity::multilinear;
    return out;
  }
  [[nodiscard]] static constexpr diagnosis check_rank(int operand, int rank, int dimensions) {
    const diagnosis wrong{.rule = violation::operand_rank_differs,
                          .operand = operand,
                          .have = rank,
                          .want = dimensions};
    return rank < dimensions || rank + 2 * dimensions > max_factors ? wrong : diagnosis{};
  }
};

}  // namespace detail

struct stencil_weights_operation;

/// The operation that replaces each element by a weighted sum of its neighbours along the last
/// dimensions, as many as the weights have. Its attributes are those of `window_attributes`. If no
/// padding is given, the result has the extents of the operand.
struct stencil_operation {
  static constexpr text_view name = "stencil";
  using window_how = internal::window_attributes;

  /// Returns the numbers of spatial dimension `d` for weights of these extents.
  [[nodiscard]] static constexpr window_numbers numbers_at(const attributes& how,
                                                           const extents_desc& weights,
                                                           int d) noexcept {
    window_numbers out = window_how::at(how, weights.ssize(), d);
    if (window_how::paddings_given(how) != 0 || weights[d] == dyn) return out;
    const index_t reach = (weights[d] - 1) * out.extent;
    out.low = reach / 2;
    out.high = reach - out.low;
    return out;
  }
  /// Every dimension may be split; spatial ones may need a halo. The weights are whole.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank(), dimensions = operands[1].rank();
    detail::stencilled::factors out =
        detail::stencilled::factors_of(rank, dimensions, factor_kind::pass_through,
                                       factor_kind::need_replication, factor_kind::pass_through);
    out.rule.operands = {out.grid, out.weights};
    out.rule.result = out.results;
    for (int d = 0; d < dimensions; ++d) {
      const int at = rank - dimensions + d;
      out.rule.windows.push_back(
          {out.grid[at], out.results[at],
           detail::stencilled::window_of(numbers_at(how, operands[1].extents, d),
                                         operands[1].extents[d])});
    }
    return out.rule;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    const extents_desc& weights = operands[1].extents;
    const int rank = operands[0].rank(), dimensions = weights.ssize();
    if (dimensions < 1 || dimensions > window_numbers::most_dimensions)
      return {.rule = violation::operand_rank_differs,
              .operand = 1,
              .have = dimensions,
              .want = dimensions < 1 ? 1 : window_numbers::most_dimensions};
    if (const diagnosis ranks = detail::stencilled::check_rank(0, rank, dimensions); !ranks.ok())
      return ranks;
    if (const diagnosis given = window_how::check(how, dimensions, false); !given.ok())
      return given;
    for (int d = 0; d < dimensions; ++d) {
      constexpr index_t largest = index_t{1} << 30;
      if (weights[d] < 1 || weights[d] > largest)
        return {.rule = violation::window_does_not_fit,
                .operand = 1,
                .dim = d,
                .have = weights[d],
                .want = weights[d] < 1 ? 1 : largest};
      const index_t have = operands[0].extents[rank - dimensions + d];
      const dimension_window reads =
          detail::stencilled::window_of(numbers_at(how, weights, d), weights[d]);
      if (have != dyn && have + reads.low + reads.high < reads.span)
        return {.rule = violation::window_does_not_fit,
                .operand = 0,
                .dim = rank - dimensions + d,
                .have = have + reads.low + reads.high,
                .want = reads.span};
    }
    return {};
  }
  /// A multiplication and an addition for each weight of each element of the result.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    index_t products = largest_shard_size(mesh, result.layout, result.extents);
    for (index_t size : operands[1].extents) products *= size;
    return {.flops = 2 * products};
  }
  using emits = emitted_operations<flip_operation, stencil_operation, stencil_weights_operation>;
  /// The cotangent of the grid is a stencil with flipped weights.
  static constexpr void gradient(gradient_step& at);
};

/// The operation that sums, for each weight of a stencil, the products of the elements that it
/// multiplies and of their cotangents: the cotangent of the weights. Its attributes are those of
/// the stencil, where the size of a window replaces the spacing.
struct stencil_weights_operation {
  static constexpr text_view name = "stencil_weights";
  using window_how = internal::window_attributes;

  [[nodiscard]] static constexpr int dimensions(const attributes& how) noexcept {
    return static_cast<int>(window_how::extents_given(how));
  }
  /// Returns the numbers of the stencil along spatial dimension `d`, and the size of its window.
  [[nodiscard]] static constexpr std::pair<window_numbers, index_t> numbers_at(
      const attributes& how, int d) noexcept {
    window_numbers out = window_how::at(how, dimensions(how), d);
    return {{1, out.low, out.high, out.extent, 1}, out.spacing};
  }
  /// Returns the attributes for these stencil numbers and extents of the weights.
  [[nodiscard]] static constexpr attributes how(const detail::stencilled::numbers& all,
                                                const extents_desc& weights) noexcept {
    detail::stencilled::numbers sized = all;
    for (int d = 0; d < sized.ssize(); ++d) sized[d].spacing = weights[d];
    return window_how::from(sized, 1);
  }
  /// Leading dimensions and positions are summed, so the result is pending over axes that split
  /// them.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int rank = operands[0].rank(), count = dimensions(how);
    detail::stencilled::factors out = detail::stencilled::factors_of(
        rank, count, factor_kind::reduction, factor_kind::pass_through, factor_kind::reduction);
    out.rule.operands = {out.grid, out.results};
    out.rule.result = out.weights;
    out.rule.sizes = out.rule.given_sizes();
    for (int d = 0; d < count; ++d) {
      const auto [one, size] = numbers_at(how, d);
      const int at = rank - count + d;
      out.rule.sizes[out.weights[d]] = size;
      out.rule.windows.push_back(
          {out.grid[at], out.results[at], detail::stencilled::window_of(one, size)});
    }
    return out.rule;
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes& how,
                                                     const tensor_descs& operands,
                                                     const tensor_desc&) noexcept {
    index_t products = largest_shard_size(mesh, operands[1].layout, operands[1].extents);
    for (int d = 0; d < dimensions(how); ++d) products *= numbers_at(how, d).second;
    return {.flops = 2 * products};
  }
  using emits = emitted_operations<flip_operation, stencil_operation>;
  static constexpr void gradient(gradient_step& at);
};

namespace detail {

/// Returns the cotangent of the grid of a stencil with these numbers: each element contributes to
/// the results around it, so it is a stencil whose weights and paddings are reversed.
[[nodiscard]] constexpr gradient_value grid_cotangent(const stencilled::numbers& all,
                                                      const gradient_value& cotangent,
                                                      const gradient_value& weights) {
  stencilled::numbers back;
  attributes flipped;
  for (int d = 0; d < all.ssize(); ++d) {
    const index_t reach = (weights.tensor().extents[d] - 1) * all[d].extent;
    back.push_back({1, reach - all[d].low, reach - all[d].high, all[d].extent, 1});
    flipped.integers.push_back(d);
  }
  return emit<stencil_operation>(window_attributes::from(back, 1), cotangent,
                                 emit<flip_operation>(flipped, weights));
}

}  // namespace detail

constexpr void stencil_operation::gradient(gradient_step& at) {
  const extents_desc weights = at.operand(1).tensor().extents;
  detail::stencilled::numbers all;
  for (int d = 0; d < weights.ssize(); ++d) all.push_back(numbers_at(at.how(), weights, d));
  if (at.wants(0)) at.give(0, detail::grid_cotangent(all, at.cotangent(), at.operand(1)));
  if (at.wants(1))
    at.give(1, emit<stencil_weights_operation>(stencil_weights_operation::how(all, weights),
                                               at.operand(0), at.cotangent()));
}

constexpr void stencil_weights_operation::gradient(gradient_step& at) {
  detail::stencilled::numbers all;
  for (int d = 0; d < dimensions(at.how()); ++d) all.push_back(numbers_at(at.how(), d).first);
  if (at.wants(0)) at.give(0, detail::grid_cotangent(all, at.operand(1), at.cotangent()));
  if (at.wants(1))
    at.give(1, emit<stencil_operation>(window_how::from(all, 1), at.operand(0), at.cotangent()));
}

/// A stencil whose attributes are types.
template <class... Options>
struct stencil_of {
  using operation_class = stencil_operation;
  static constexpr attributes how = [] {
    const auto all = detail::window_options::of<Options...>();
    return internal::window_attributes::from({}, all.paddings, all.dilations, 1);
  }();
};

namespace detail {
template <class Option>
inline constexpr bool is_stencil_option = false;
template <index_t... N>
inline constexpr bool is_stencil_option<paddings<N...>> = sizeof...(N) <= 6;
template <index_t... N>
inline constexpr bool is_stencil_option<dilations<N...>> = sizeof...(N) <= 3;

template <class Option>
concept StencilOption = is_stencil_option<Option>;
}  // namespace detail

/// Returns, for each element of a grid, the weighted sum of its neighbours: one step of a
/// simulation, or a filter of an image. The weights have one to three dimensions, which are the
/// last ones of the grid; all others are a batch. Weights are applied as they stand, without a
/// flip (a cross-correlation).
///
/// Without `paddings`, the result has the extents of the grid, and the grid continues with zeros
/// beyond its edges; weights of even size read one more element after than before. `paddings<0, 0>`
/// computes only where all neighbours exist. `dilations` sets the distance between neighbours.
///
/// Every dimension of the grid may be split, and the weights must be whole. A split spatial
/// dimension needs elements of neighbouring devices, which are exchanged over permitted axes.
/// Pending sums stay pending.
///
///     auto next = stencil(u, weights, across<"rows">);    // f32[1024@rows, 1024], f32[3, 3]
template <detail::StencilOption... Options, NamedOperand X, NamedOperand W,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto stencil(X&& grid, W&& weights, Given permitted = {})
    -> decltype(apply_operation<stencil_of<Options...>>(permitted, static_cast<X&&>(grid),
                                                        static_cast<W&&>(weights))) {
  return apply_operation<stencil_of<Options...>>(permitted, static_cast<X&&>(grid),
                                                 static_cast<W&&>(weights));
}

}  // namespace shardwise
