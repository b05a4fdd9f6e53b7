// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/named_collective.hpp"

namespace shardwise {

/// Reduces the values that the devices along manual axes have of a tensor into one that all of them
/// hold; JAX's psum, pmax and pmin. The gradient of a sum is the same for every device; maxima that
/// are equal share it evenly.
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
/// Whether the value of any, or of every, device along manual axes is true.
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
/// The mean of the values that the devices along manual axes have; JAX's pmean.
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr detail::outcome_of<detail::all_mean_call<Axes...>, X> all_mean(X&& x) {
  return detail::carry_out<detail::all_mean_call<Axes...>>(static_cast<X&&>(x));
}

/// Puts what the devices along manual axes have one after the other along a dimension, which no
/// other axis splits; all of them then hold it. Several axes are named by `by("x", "y")`, major to
/// minor. Its gradient is a `reduce_scatter` of what each device made of it.
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

/// Reduces the values that the devices along manual axes have, and leaves each a part of the result
/// along a dimension, which divides; JAX's psum_scatter. The gradient of a sum is an `all_gather`.
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

/// Cuts what each device has along dimension `Split` into a part for each device along manual axes,
/// and puts the parts that it gets one after the other along `Concat`. The gradient goes the other
/// way.
///
///     auto heads = all_to_all<"model", 1, 0>(mine);  // f32[4, 8]{manual: model} -> f32[16, 2]
template <fixed_string Axes, int Split, int Concat, NamedOperand X>
[[nodiscard]] constexpr auto all_to_all(X&& x) -> detail::called_collective<
    detail::named_collective<collective::all_to_all, reduction::sum, Axes, Concat, Split>, X> {
  return detail::call_collective<
      detail::named_collective<collective::all_to_all, reduction::sum, Axes, Concat, Split>>(
      static_cast<X&&>(x));
}

/// Gives what a device along manual axes has to another, by positions along them; JAX's ppermute. A
/// position gives once and gets once at most; one that gets nothing has zeros. The gradient goes
/// the other way.
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
/// Gives what each device along manual axes has to the one `By` positions further, around the ring,
/// or before it where that is negative; with `shift_end::zeros` what leaves is lost and zeros
/// enter.
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

/// What the device at one position along manual axes has, for all of them. Its gradient is that
/// device's alone.
///
///     auto first = broadcast<"data", 0>(mine);       // f32[4, 2]{manual: data} -> f32[4, 2]
template <fixed_string Axes, index_t Root, NamedOperand X>
[[nodiscard]] constexpr auto broadcast(X&& x) -> detail::called_collective<
    detail::moving_collective<collective::broadcast, Axes, detail::root_moves<Root>>, X> {
  return detail::call_collective<
      detail::moving_collective<collective::broadcast, Axes, detail::root_moves<Root>>>(
      static_cast<X&&>(x));
}

/// What all devices along axes have as a value that may be another on each from now on; JAX's
/// pvary. Nothing moves; its gradient is the sum of the devices'. Operations with manual operands
/// do the same without being asked.
///
///     auto mine = vary<"data">(w);                   // f32[64] -> f32[64]{manual: data}
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto vary(X&& x)
    -> detail::called_collective<detail::vary_rule<Axes...>, X> {
  return detail::call_collective<detail::vary_rule<Axes...>>(static_cast<X&&>(x));
}
/// What the devices along manual axes have as the terms of a sum that is still to come. Nothing
/// moves; a reshard finishes the sum, once, where and as the program wants it.
///
///     auto total = reshard<P<"data", none>>(as_terms<"data">(mine));     // a reduce_scatter
template <fixed_string... Axes, NamedOperand X>
[[nodiscard]] constexpr auto as_terms(X&& x)
    -> detail::called_collective<detail::terms_rule<Axes...>, X> {
  return detail::call_collective<detail::terms_rule<Axes...>>(static_cast<X&&>(x));
}
/// The part along a dimension that each device along axes keeps of what all of them have, as a
/// value of its own. Nothing moves; its gradient is an `all_gather`.
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
