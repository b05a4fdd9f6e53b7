// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/channels.hpp"
#include "shardwise/operation/convolution.hpp"
#include "shardwise/operation/convolution_transpose.hpp"
#include "shardwise/operation/with_rank.hpp"

namespace shardwise {

namespace nn {

/// The options of a convolution as a template argument of a module: `nn::with<strides<2, 2>,
/// paddings<1, 1>>`.
template <class... Options>
struct with {};

}  // namespace nn

namespace detail {

template <class... Options, class X, class Filter, fixed_string... Axes>
[[nodiscard]] constexpr auto convolved_with(nn::with<Options...>, const X& x, const Filter& filter,
                                            across_axes<Axes...> permitted) {
  return convolution<Options...>(x, filter, permitted);
}
template <class... Options, class X, class Filter, fixed_string... Axes>
[[nodiscard]] constexpr auto transposed_with(nn::with<Options...>, const X& x, const Filter& filter,
                                             across_axes<Axes...> permitted) {
  return convolution_transpose<Options...>(x, filter, permitted);
}

/// Adds one number for each channel to `[batch, channels, spatial...]`.
template <class X, class Bias>
[[nodiscard]] constexpr auto with_channel_bias(X&& x, const Bias& bias) {
  return with_rank<3, max_rank>(x, [&](auto rank) {
    return static_cast<X&&>(x) + beside_positions<decltype(rank)::value>(bias);
  });
}

}  // namespace detail

namespace nn {

/// A convolution of `[batch, channels, spatial...]` with a filter `[features, channels / groups,
/// window...]`, plus a bias `[features]`; see the function.
///
/// The layout of the filter determines the parallelism: if it is split by features, the result is
/// split alike; if it is split by channels, the result is a pending sum, which `Out`, a spec,
/// finishes before the bias is added. A split spatial dimension exchanges halos over the axes of
/// `Permitted`.
///
///     nn::convolution<F, B, nn::with<paddings<1, 1>>> first{f, b};
///     nn::convolution<F, B, nn::with<>, P<"data", "model", none, none>> second{f, b};
///     nn::convolution<F, B, nn::with<>, nn::as_computed, across_axes<"height">> third{f, b};
template <class Filter, class Bias = no_bias, class Options = with<>, class Out = as_computed,
          class Permitted = across_axes<>>
struct convolution {
  Filter filter;
  Bias bias;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return detail::with_channel_bias(
        detail::spread<Out>(detail::convolved_with(Options{}, x, filter, Permitted{})), bias);
  }
};
template <class Filter, class Options, class Out, class Permitted>
struct convolution<Filter, no_bias, Options, Out, Permitted> {
  Filter filter;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return detail::spread<Out>(detail::convolved_with(Options{}, x, filter, Permitted{}));
  }
};

/// A transposed convolution of `[batch, channels, spatial...]` with a filter `[channels, features /
/// groups, window...]`, plus a bias `[features]`, as in the decoder of an autoencoder; see the
/// function. Its template arguments are those of `convolution`: a filter that is split by channels
/// leaves a pending sum, which `Out` finishes.
///
///     nn::convolution_transpose<F, B, nn::with<strides<2, 2>, paddings<1, 1>>> up{f, b};
///     const auto y = up(x);         // f32[8@data, 16, 8, 8] -> f32[8@data, 4, 16, 16]
template <class Filter, class Bias = no_bias, class Options = with<>, class Out = as_computed,
          class Permitted = across_axes<>>
struct convolution_transpose {
  Filter filter;
  Bias bias;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return detail::with_channel_bias(
        detail::spread<Out>(detail::transposed_with(Options{}, x, filter, Permitted{})), bias);
  }
};
template <class Filter, class Options, class Out, class Permitted>
struct convolution_transpose<Filter, no_bias, Options, Out, Permitted> {
  Filter filter;

  template <EitherOperand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return detail::spread<Out>(detail::transposed_with(Options{}, x, filter, Permitted{}));
  }
};

}  // namespace nn

}  // namespace shardwise
