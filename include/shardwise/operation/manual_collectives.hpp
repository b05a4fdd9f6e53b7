// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/named_collective.hpp"

namespace shardwise {

/// Reduces the values of the devices along manual axes to one that all of them hold; `psum`, `pmax`
/// and `pmin` in JAX. The gradient of a sum is the same for every device; equal maxima share it
/// evenly.
///
///     auto total = all_reduce<"data">(x);                        // the sum
///     auto most = all_reduce<reduction::max, "data", "model">(x);
template <reduction Reduce, fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_reduce(X&& x)
    -> detail::called_collective<detail::all_reduce_rule<Reduce, Axes...>, X> {
  return detail::call_collective<detail::all_reduce_rule<Reduce, Axes...>>(static_cast<X&&>(x));
}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_reduce(X&& x)
    -> detail::called_collective<detail::all_reduce_rule<reduction::sum, Axes...>, X> {
  return detail::call_collective<detail::all_reduce_rule<reduction::sum, Axes...>>(
      static_cast<X&&>(x));
}
/// Returns whether the value of any, or of every, device along manual axes is true.
///
///     auto diverged = all_or<"data">(any(isnan(mine)));          // bool[]
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_or(X&& x)
    -> detail::called_collective<detail::all_truth_rule<reduction::max, Axes...>, X> {
  return detail::call_collective<detail::all_truth_rule<reduction::max, Axes...>>(
      static_cast<X&&>(x));
}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto all_and(X&& x)
    -> detail::called_collective<detail::all_truth_rule<reduction::min, Axes...>, X> {
  return detail::call_collective<detail::all_truth_rule<reduction::min, Axes...>>(
      static_cast<X&&>(x));
}
/// Returns the mean of the values of the devices along manual axes; `pmean` in JAX.
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr internal::outcome_of<detail::all_mean_call<Axes...>, X> all_mean(X&& x) {
  return internal::carry_out<detail::all_mean_call<Axes...>>(static_cast<X&&>(x));
}

/// Concatenates the values of the devices along manual axes along a dimension, which no other axis
/// splits; all of the devices hold the result. Several axes are written `by("x", "y")`, major to
/// minor. The gradient is a `reduce_scatter` of the devices' cotangents.
///
///     auto all = all_gather<"data", 0>(mine);        // f32[4, 2]{manual: data} -> f32[8, 2]
template <fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto all_gather(X&& x)
    -> detail::called_collective<detail::named_collective<collective::all_gather, reduction::sum,
                                                          Axes, Dim, manual_collective::nowhere>,
                                 X> {
  return detail::call_collective<detail::named_collective<collective::all_gather, reduction::sum,
                                                          Axes, Dim, manual_collective::nowhere>>(
      static_cast<X&&>(x));
}

/// Reduces the values of the devices along manual axes, and gives each device one part of the
/// result along a dimension, whose extent must be divisible; `psum_scatter` in JAX. The gradient of
/// a sum is an `all_gather`.
///
///     auto part = reduce_scatter<"data", 0>(terms);  // f32[8, 2]{manual: data} -> f32[4, 2]
template <reduction Reduce, fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto reduce_scatter(X&& x)
    -> detail::called_collective<detail::named_collective<collective::reduce_scatter, Reduce, Axes,
                                                          manual_collective::nowhere, Dim>,
                                 X> {
  return detail::call_collective<detail::named_collective<collective::reduce_scatter, Reduce, Axes,
                                                          manual_collective::nowhere, Dim>>(
      static_cast<X&&>(x));
}
template <fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto reduce_scatter(X&& x)
    -> decltype(reduce_scatter<reduction::sum, Axes, Dim>(static_cast<X&&>(x))) {
  return reduce_scatter<reduction::sum, Axes, Dim>(static_cast<X&&>(x));
}

/// Splits the value of each device along dimension `Split` into one part for each device along
/// manual axes, and concatenates the parts that a device receives along `Concat`. The gradient is
/// the inverse exchange.
///
///     auto heads = all_to_all<"model", 1, 0>(mine);  // f32[4, 8]{manual: model} -> f32[16, 2]
template <fixed_string Axes, int Split, int Concat, NamedOperand X>
[[nodiscard]] constexpr auto all_to_all(X&& x) -> detail::called_collective<
    detail::named_collective<collective::all_to_all, reduction::sum, Axes, Concat, Split>, X> {
  return detail::call_collective<
      detail::named_collective<collective::all_to_all, reduction::sum, Axes, Concat, Split>>(
      static_cast<X&&>(x));
}

/// Sends the value of a device to another one, by positions along manual axes; `ppermute` in JAX. A
/// position sends at most once and receives at most once; one that receives nothing gets zeros. The
/// gradient is the inverse permutation.
///
///     auto y = permute<"data", sends<0, 1>, sends<1, 0>>(mine);
template <fixed_string Axes, class... Pairs, NamedOperand X>
[[nodiscard]] constexpr auto permute(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::collective_permute, Axes, detail::pair_moves<Pairs...>>,
    X> {
  return detail::call_collective<detail::moving_collective<collective::collective_permute, Axes,
                                                           detail::pair_moves<Pairs...>>>(
      static_cast<X&&>(x));
}
/// Sends the value of each device to the device `By` positions further along manual axes, in a
/// ring, or back if `By` is negative. With `shift_end::zeros`, values beyond the end are dropped
/// and zeros are shifted in.
///
///     auto before = shift<"data", 1>(mine);                      // of the device before
///     auto after = shift<"data", -1, shift_end::zeros>(mine);    // of the one after, or 0
template <fixed_string Axes, index_t By, shift_end End = shift_end::wraps, NamedOperand X>
[[nodiscard]] constexpr auto shift(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::collective_permute, Axes, detail::shift_moves<By, End>>,
    X> {
  return detail::call_collective<detail::moving_collective<collective::collective_permute, Axes,
                                                           detail::shift_moves<By, End>>>(
      static_cast<X&&>(x));
}

/// Sends the value of the device at one position along manual axes to all of them. Only that device
/// gets a gradient.
///
///     auto first = broadcast<"data", 0>(mine);       // f32[4, 2]{manual: data} -> f32[4, 2]
template <fixed_string Axes, index_t Root, NamedOperand X>
[[nodiscard]] constexpr auto broadcast(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::broadcast, Axes, detail::root_moves<Root>>, X> {
  return detail::call_collective<
      detail::moving_collective<collective::broadcast, Axes, detail::root_moves<Root>>>(
      static_cast<X&&>(x));
}

/// Marks a value that is the same on all devices along axes as manual, so that it may differ from
/// now on; `pvary` in JAX. Nothing is communicated; the gradient is the sum over the devices.
/// Operations with manual operands do this implicitly.
///
///     auto mine = vary<"data">(w);                   // f32[64] -> f32[64]{manual: data}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto vary(X&& x)
    -> detail::called_collective<detail::vary_rule<Axes...>, X> {
  return detail::call_collective<detail::vary_rule<Axes...>>(static_cast<X&&>(x));
}
/// Makes the values of the devices along manual axes the terms of a pending sum. Nothing is
/// communicated; a `reshard` finishes the sum.
///
///     auto total = reshard<P<"data", none>>(as_terms<"data">(mine));     // a reduce_scatter
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto as_terms(X&& x)
    -> detail::called_collective<detail::terms_rule<false, Axes...>, X> {
  return detail::call_collective<detail::terms_rule<false, Axes...>>(static_cast<X&&>(x));
}
/// Returns the same value as a pending sum over axes along which it is replicated: the first device
/// holds it, and the terms of the others are 0. It is what JAX calls unreduced. Nothing is
/// communicated, nor in the gradient, which is that of the value. It is an error if one of the axes
/// splits a dimension or is pending, if another reduction than a sum is pending, or if elements are
/// `bool`.
///
/// It may then be added to a pending sum that is finished later, such as a bias to a product:
///
///     auto y = einsum<"bi,io->bo">(x, w) + as_partial<"model">(bias);   // still pending
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto as_partial(X&& x)
    -> detail::called_collective<detail::terms_rule<true, Axes...>, X> {
  return detail::call_collective<detail::terms_rule<true, Axes...>>(static_cast<X&&>(x));
}
/// Returns the part of a shared value along a dimension that belongs to each device along axes, as
/// a manual value. Nothing is communicated; the gradient is an `all_gather`.
///
///     auto mine = all_slice<"data", 0>(x);           // f32[8, 2] -> f32[4, 2]{manual: data}
template <fixed_string Axes, int Dim, NamedOperand X>
[[nodiscard]] constexpr auto all_slice(X&& x)
    -> detail::called_collective<detail::named_collective<collective::slice, reduction::sum, Axes,
                                                          manual_collective::nowhere, Dim>,
                                 X> {
  return detail::call_collective<detail::named_collective<collective::slice, reduction::sum, Axes,
                                                          manual_collective::nowhere, Dim>>(
      static_cast<X&&>(x));
}

}  // namespace shardwise
