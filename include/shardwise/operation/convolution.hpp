// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/convolved.hpp"
#include "shardwise/operation/misplaced_options.hpp"

namespace shardwise {

struct convolution_weights_operation;

/// The operation that multiplies windows of a tensor by weights. Its attributes are those of
/// `window_attributes`; the distance between the elements of a window is the dilation.
struct convolution_operation {
  static constexpr text_view name = "convolution";
  using window_how = internal::window_attributes;

  /// The batch and the features of the result may be split; summing over split channels leaves the
  /// result pending; windows over a split dimension may need a halo.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int dimensions = operands[0].rank() - 2;
    detail::convolved::factors out =
        detail::convolved::factors_of(dimensions, window_how::groups(how));
    out.rule.operands = {out.inputs, out.weights};
    out.rule.result = out.results;
    for (int d = 0; d < dimensions; ++d)
      out.rule.windows.push_back({out.inputs[2 + d], out.results[2 + d],
                                  detail::convolved::window_of(window_how::at(how, dimensions, d),
                                                               operands[1].extents[2 + d])});
    return out.rule;
  }
  /// Checks the ranks, the groups and the numbers, and that windows of known size fit.
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    if (const diagnosis shapes = detail::convolved::check(how, operands, 0); !shapes.ok())
      return shapes;
    const int dimensions = operands[0].rank() - 2;
    if (const diagnosis numbers = window_how::check(how, dimensions, false); !numbers.ok())
      return numbers;
    for (int d = 0; d < dimensions; ++d) {
      const index_t size = operands[1].extents[2 + d], have = operands[0].extents[2 + d];
      const window_numbers one = window_how::at(how, dimensions, d);
      const dimension_window reads = detail::convolved::window_of(one, size);
      constexpr index_t largest = index_t{1} << 30;
      if (size > largest)
        return {.rule = violation::window_does_not_fit,
                .operand = 1,
                .dim = 2 + d,
                .have = size,
                .want = largest};
      if (size == dyn || size < 1)
        return {.rule = violation::window_does_not_fit,
                .operand = 1,
                .dim = 2 + d,
                .have = size,
                .want = 1};
      if (have != dyn && one.high >= 0 && reads.spread(have) + one.low + one.high < reads.span)
        return {.rule = violation::window_does_not_fit,
                .operand = 0,
                .dim = 2 + d,
                .have = reads.spread(have) + one.low + one.high,
                .want = reads.span};
    }
    return {};
  }
  /// A multiplication and an addition for each weight of each element of the result.
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    index_t products = largest_shard_size(mesh, result.layout, result.extents) *
                       detail::convolved::least_part(mesh, operands[0], 1, operands[1], 1);
    for (int d = 2; d < operands[1].rank(); ++d) products *= operands[1].extents[d];
    return {.flops = 2 * products};
  }
  using emits = emitted_operations<flip_operation, transpose_operation, reshape_operation,
                                   convolution_operation, convolution_weights_operation>;
  /// The cotangent of the inputs is a convolution too, that of the weights a convolution over
  /// positions.
  static constexpr void gradient(gradient_step& at);
};

/// The operation that multiplies windows of a tensor by the corresponding elements of another one,
/// and sums over windows and the batch: the cotangent of the weights of a convolution, from the
/// inputs and the cotangent of the result. Its attributes are those of a convolution, except that
/// the second number of a padding is the size of a window.
struct convolution_weights_operation {
  static constexpr text_view name = "convolution_weights";
  using window_how = internal::window_attributes;

  /// The padding after the last element follows from the number of windows.
  [[nodiscard]] static constexpr window_numbers numbers_at(const attributes& how,
                                                           const tensor_descs& operands,
                                                           int d) noexcept {
    window_numbers out = window_how::at(how, operands[0].rank() - 2, d);
    const index_t size = out.high;
    const index_t have = operands[0].extents[2 + d], count = operands[1].extents[2 + d];
    const dimension_window reads = detail::convolved::window_of(out, size);
    out.high = have == dyn || count == dyn
                   ? 0
                   : (count - 1) * out.stride + reads.span - out.low - reads.spread(have);
    return out;
  }
  [[nodiscard]] static constexpr index_t window_size(const attributes& how, int dimensions,
                                                     int d) noexcept {
    return window_how::at(how, dimensions, d).high;
  }
  /// The same as that of a convolution, except that batch and positions are summed.
  [[nodiscard]] static constexpr factor_rule rule(const attributes& how,
                                                  const tensor_descs& operands) noexcept {
    const int dimensions = operands[0].rank() - 2;
    detail::convolved::factors out =
        detail::convolved::factors_of(dimensions, window_how::groups(how));
    const auto kind = [&](std::uint8_t factor) -> factor_kind& { return out.rule.factors[factor]; };
    kind(out.inputs[0]) = factor_kind::reduction;
    kind(out.weights[1]) = factor_kind::pass_through;
    out.rule.operands = {out.inputs, out.results};
    out.rule.result = out.weights;
    out.rule.sizes = out.rule.given_sizes();
    for (int d = 0; d < dimensions; ++d) {
      const index_t size = window_size(how, dimensions, d);
      kind(out.results[2 + d]) = factor_kind::reduction;
      kind(out.weights[2 + d]) = factor_kind::pass_through;
      out.rule.sizes[out.weights[2 + d]] = size;
      out.rule.windows.push_back(
          {out.inputs[2 + d], out.results[2 + d],
           detail::convolved::window_of(numbers_at(how, operands, d), size)});
    }
    return out.rule;
  }
  [[nodiscard]] static constexpr diagnosis check(const attributes& how,
                                                 const tensor_descs& operands) noexcept {
    return detail::convolved::check(how, operands, 1);
  }
  [[nodiscard]] static constexpr operation_cost cost(const mesh_desc& mesh, const attributes&,
                                                     const tensor_descs& operands,
                                                     const tensor_desc& result) noexcept {
    index_t products = largest_shard_size(mesh, result.layout, result.extents) *
                       detail::convolved::least_part(mesh, operands[0], 0, operands[1], 0);
    for (int d = 2; d < operands[1].rank(); ++d) {
      const bool by_inputs = operands[1].layout.dims[d].empty();
      const tensor_desc& split = operands[by_inputs ? 0 : 1];
      products *= largest_part(mesh, split.layout.dims[d], split.layout.grains[d].without_halo(),
                               operands[1].extents[d]);
    }
    return {.flops = 2 * products};
  }
  using emits = emitted_operations<flip_operation, transpose_operation, reshape_operation,
                                   convolution_operation>;
  static constexpr void gradient(gradient_step& at) {
    const tensor_descs known{at.operand(0).tensor(), at.operand(1).tensor()};
    const index_t groups = window_how::groups(at.how());
    detail::convolved::numbers all;
    for (int d = 0; d < known[0].rank() - 2; ++d) all.push_back(numbers_at(at.how(), known, d));
    if (at.wants(0))
      at.give(0, detail::convolved::input_cotangent(all, groups, known[0].extents, at.operand(1),
                                                    at.cotangent()));
    if (at.wants(1))
      at.give(1, emit<convolution_operation>(window_how::from(all, groups), at.operand(0),
                                             at.cotangent()));
  }
};

constexpr gradient_value detail::convolved::input_cotangent(const numbers& all, index_t groups,
                                                            const extents_desc& inputs,
                                                            const gradient_value& cotangent,
                                                            const gradient_value& weights) {
  numbers back;
  for (int d = 0; d < all.ssize(); ++d) {
    const window_numbers& one = all[d];
    const index_t size = weights.tensor().extents[2 + d];
    const index_t reach = (size - 1) * one.extent;
    const index_t low = reach - one.low;
    const dimension_window read{1, 1, 0, 0, one.stride};
    const index_t high = (inputs[2 + d] - 1) * one.spacing + reach + 1 - low -
                         read.spread(cotangent.tensor().extents[2 + d]);
    back.push_back({one.spacing, low, high, one.extent, one.stride});
  }
  return emit<convolution_operation>(window_attributes::from(back, groups), cotangent,
                                     turned(weights, groups));
}

constexpr void convolution_operation::gradient(gradient_step& at) {
  const extents_desc inputs = at.operand(0).tensor().extents;
  const extents_desc weights = at.operand(1).tensor().extents;
  const index_t groups = window_how::groups(at.how());
  detail::convolved::numbers all;
  for (int d = 0; d < inputs.ssize() - 2; ++d)
    all.push_back(window_how::at(at.how(), inputs.ssize() - 2, d));
  if (at.wants(0))
    at.give(0,
            detail::convolved::input_cotangent(all, groups, inputs, at.cotangent(), at.operand(1)));
  if (!at.wants(1)) return;
  for (int d = 0; d < all.ssize(); ++d) all[d].high = weights[2 + d];
  at.give(1, emit<convolution_weights_operation>(window_how::from(all, groups), at.operand(0),
                                                 at.cotangent()));
}

/// A convolution whose attributes are types.
template <class... Options>
struct convolution_of {
  using operation_class = convolution_operation;
  static constexpr attributes how = [] {
    const auto all = detail::window_options::of<Options...>();
    return internal::window_attributes::from(all.strides, all.paddings, all.dilations, all.groups);
  }();
};

/// Returns the products of windows of a tensor with weights, summed over the channels: the
/// cross-correlation that is called convolution in neural networks, in one to three spatial
/// dimensions.
///
/// Inputs are `[batch, channels, spatial...]`, weights `[features, channels / groups, window...]`,
/// and results `[batch, features, spatial...]`, with `(size + padding - reach) / stride + 1`
/// positions, where `reach = (window - 1) * dilation + 1` is the extent of a window. The options
/// `strides`, `paddings`, `dilations` and `feature_groups` may be given in any order; by default,
/// strides and dilations are 1 and nothing is padded.
///
/// The batch may be split, and so may the features of the weights. If channels are split in both
/// operands, the result is pending; groups may be split in both. Windows must not be split. A split
/// spatial dimension needs elements of neighbours, which are exchanged over permitted axes; without
/// permission it is an error unless windows end where parts do.
///
///     auto y = convolution(x, w);                // f32[8@data, 3, 32, 32], f32[16@model, 3, 3, 3]
///     auto z = convolution<strides<2, 2>, paddings<1, 1>>(x, w, across<"height">);
template <detail::ConvolutionOption... Options, NamedOperand X, NamedOperand W,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto convolution(X&& x, W&& weights, Given permitted = {})
    -> decltype(apply_operation<convolution_of<Options...>>(permitted, static_cast<X&&>(x),
                                                            static_cast<W&&>(weights))) {
  return apply_operation<convolution_of<Options...>>(permitted, static_cast<X&&>(x),
                                                     static_cast<W&&>(weights));
}

namespace detail {
template <index_t... N>
struct written_option<strides<N...>> {
  static constexpr call_text text = numbered_option<"strides", N...>;
};
template <index_t... N>
struct written_option<paddings<N...>> {
  static constexpr call_text text = numbered_option<"paddings", N...>;
};
template <index_t... N>
struct written_option<dilations<N...>> {
  static constexpr call_text text = numbered_option<"dilations", N...>;
};
template <index_t N>
struct written_option<feature_groups<N>> {
  static constexpr call_text text = numbered_option<"feature_groups", N>;
};
}  // namespace detail

/// Error: the options are template arguments.
template <Operand X, Operand W, class... Options>
  requires(... || detail::ConvolutionOption<Options>)
detail::call_misplaced<detail::written_call<"convolution", "paddings<1, 1>", "x, w", Options...>, X>
convolution(const X&, const W&, const Options&...) {
  return {};
}

}  // namespace shardwise
