// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/composed.hpp"
#include "shardwise/operation/convolution.hpp"

#include <type_traits>
#include <utility>

namespace shardwise {

/// The numbers of further positions behind each spatial dimension of the result of a transposed
/// convolution, which select one of the sizes from which strides lead to the size of its input.
template <index_t... Amounts>
struct output_paddings {};

namespace detail {

template <class Option>
inline constexpr bool is_output_padding = false;
template <index_t... N>
inline constexpr bool is_output_padding<output_paddings<N...>> = sizeof...(N) <= 3;
template <class Option>
concept TransposedOption = ConvolutionOption<Option> || is_output_padding<Option>;

/// The options of a transposed convolution.
struct transposed_options : window_options {
  window_attributes::list further{};

  using window_options::take;
  template <index_t... N>
  constexpr void take(output_paddings<N...>) noexcept {
    further = {N...};
  }
  template <class... Option>
  [[nodiscard]] static constexpr transposed_options of() noexcept {
    transposed_options all;
    (all.take(Option{}), ...);
    return all;
  }

  /// Returns the attributes of the convolution whose inputs are as far apart as the strides, and
  /// whose padding makes each input reach the positions that it was computed from. Numbers that no
  /// convolution accepts are left for it to refuse.
  [[nodiscard]] constexpr attributes how(const extents_desc& weights) const noexcept {
    attributes given = window_attributes::from(strides, paddings, dilations, groups);
    const int dimensions = weights.ssize() - 2;
    if (dimensions < 1 || dimensions > window_numbers::most_dimensions ||
        !window_attributes::check(given, dimensions, false).ok())
      return given;
    if (!further.empty() && further.ssize() != dimensions) {
      given.number = static_cast<double>(further.ssize());
      return given;
    }
    constexpr index_t largest = index_t{1} << 30;
    convolved::numbers all;
    for (int d = 0; d < dimensions; ++d) {
      const window_numbers one = window_attributes::at(given, dimensions, d);
      const index_t size = weights[2 + d];
      const index_t more = further.empty() ? 0 : further[d];
      if (more < 0 || more > largest) given.integers[5 * d] = -1;
      if (size < 1 || size > largest || more < 0 || more > largest) return given;
      const index_t reach = (size - 1) * one.extent;
      all.push_back({1, reach - one.low, reach - one.high + more, one.extent, one.stride});
    }
    return window_attributes::from(all, groups);
  }
};

/// A transposed convolution with weights of these extents, whose attributes are types.
template <class Weights, class... Options>
struct convolution_transpose_of {
  using operation_class = convolution_operation;
  static constexpr attributes how = transposed_options::of<Options...>().how(Weights::value);
};

/// Returns the weights `[channels, features / groups, window...]` as those of a convolution,
/// `[features, channels / groups, window...]`, with flipped windows; gathered over permitted axes
/// where necessary.
template <index_t Groups, index_t Channels, index_t Features, index_t... Sizes, class W,
          class Permitted, int... D>
[[nodiscard]] constexpr auto turned_weights(extents<Channels, Features, Sizes...>, const W& weights,
                                            const Permitted& permitted,
                                            std::integer_sequence<int, D...>) {
  // Gathered at once, since devices need whole windows.
  auto reversed = apply_operation<flip_of<(D + 2)...>>(permitted, weights);
  if constexpr (Groups == 1) {
    return transpose<1, 0, (D + 2)...>(static_cast<decltype(reversed)&&>(reversed));
  } else {
    constexpr index_t in_group = Groups < 1 ? Channels : Channels / Groups;
    const auto groups = reshape<extents<Groups, in_group, Features, Sizes...>>(
        static_cast<decltype(reversed)&&>(reversed), permitted);
    return reshape<extents<Groups * Features, in_group, Sizes...>>(
        transpose<0, 2, 1, (D + 3)...>(groups), permitted);
  }
}

/// A transposed convolution of tensors whose layouts are values, or of some of them.
template <class Permitted, class X, class W>
[[nodiscard]] auto transposed_by_value(const transposed_options& options, const X& x,
                                       const W& weights) {
  using T = typename X::value_type;
  using domain = typename value_domain_of<X, W>::type;
  const extents_desc have = weights.extents();
  const attributes how = options.how(have);
  const tensor_descs known{tensor_desc{element_of<T>, x.extents(), {}},
                           tensor_desc{element_of<T>, have, {}}};
  require(Permitted::check(x.mesh()));
  require(convolved::check(how, known, 0));
  const unsigned permitted = Permitted::bits(x.mesh());
  const auto turned = convolved::turned(
      weights, have, options.groups,
      [&]<class Class>(std::type_identity<Class>, const attributes& step, const W& w) {
        return domain::template apply_with_across<Class, T>(permitted, step, w);
      });
  return domain::template apply_with_across<convolution_operation, T>(permitted, how, x, turned);
}

}  // namespace detail

/// Returns the convolution that goes back from the positions of a result to those of its operand,
/// as its gradient does: a learnt enlargement, called transposed convolution or deconvolution.
///
/// Inputs are `[batch, channels, spatial...]`, weights `[channels, features / groups, window...]`,
/// and results `[batch, features, spatial...]`, with `(size - 1) * stride + reach - padding`
/// positions, plus those of `output_paddings`, where `reach = (window - 1) * dilation + 1`. The
/// options are otherwise those of `convolution`, and what may be split is the same.
///
///     auto y = convolution_transpose<strides<2, 2>, paddings<1, 1>>(x, w);
///     // f32[8@data, 16, 8, 8], f32[16, 4@model, 4, 4] -> f32[8@data, 4@model, 16, 16]
template <detail::TransposedOption... Options, NamedOperand X, NamedOperand W,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto convolution_transpose(const X& x, const W& weights,
                                                   const Given& given = {}) {
  if constexpr (AnyRefused<X, W>) {
    return refused_value{};
  } else if constexpr (internal::ends_with_result_as<Given>()) {
    return internal::on_request(
        [&](const auto& terms) { return convolution_transpose<Options...>(x, weights, terms); },
        given);
  } else if constexpr (ValueOperand<W>) {
    return detail::transposed_by_value<Given>(detail::transposed_options::of<Options...>(), x,
                                              weights);
  } else {
    using shape = typename W::extents_type;
    constexpr index_t groups = detail::transposed_options::of<Options...>().groups;
    if constexpr (shape::rank < 3)
      return convolution(x, weights);
    else
      return apply_operation<detail::convolution_transpose_of<shape, Options...>>(
          given, x,
          detail::turned_weights<groups>(shape{}, weights, given,
                                         std::make_integer_sequence<int, shape::rank - 2>{}));
  }
}

}  // namespace shardwise
