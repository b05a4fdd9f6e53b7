// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/nn/spread.hpp"
#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/channels.hpp"
#include "shardwise/operation/convolution.hpp"

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

  template <Operand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return detail::spread<Out>(detail::convolved_with(Options{}, x, filter, Permitted{})) +
           detail::beside_positions<Filter::extents_type::rank>(bias);
  }
};
template <class Filter, class Options, class Out, class Permitted>
struct convolution<Filter, no_bias, Options, Out, Permitted> {
  Filter filter;

  template <Operand X>
  [[nodiscard]] constexpr auto operator()(const X& x) const {
    return detail::spread<Out>(detail::convolved_with(Options{}, x, filter, Permitted{}));
  }
};

}  // namespace nn

}  // namespace shardwise
