// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/number.hpp"
#include "shardwise/operation/slice.hpp"

namespace shardwise {

/// The operation whose attributes are types.
template <pad_mode Mode, index_t... Amounts>
struct pad_of {
  using operation_class = pad_operation;
  static constexpr attributes how = [] {
    attributes out = integer_attributes(Amounts...);
    out.number = static_cast<int>(Mode);
    return out;
  }();
};

/// Returns a larger tensor around this one: `Amounts` has the number of elements to add before and
/// after, for each dimension.
///
/// A dimension that grows must not be split, or devices communicate over permitted axes. Padded
/// with a number, it gets a halo as in `slice_in_dim`, if the same conditions hold; in other cases
/// it is gathered. All other dimensions may be split.
///
/// The padding is zero, so pending sums stay pending. `pad<pad_mode::edge, ...>` repeats the
/// elements at the edge, and `pad_mode::reflect` reflects the elements within, several times if
/// necessary.
///
///     auto y = pad<0, 0, 1, 2>(x);           // f32[8@data, 4] -> f32[8@data, 7]: 0 a b c d 0 0
template <index_t... Amounts, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Amounts) <= 2 * max_rank)
[[nodiscard]] constexpr auto pad(X&& x, const Given& permitted = {})
    -> decltype(apply_operation<pad_of<pad_mode::constant, Amounts...>>(permitted,
                                                                        static_cast<X&&>(x))) {
  return apply_operation<pad_of<pad_mode::constant, Amounts...>>(permitted, static_cast<X&&>(x));
}
template <pad_mode Mode, index_t... Amounts, NamedOperand X, internal::Terms Given = across_axes<>>
  requires(sizeof...(Amounts) <= 2 * max_rank)
[[nodiscard]] constexpr auto pad(X&& x, const Given& permitted = {})
    -> decltype(apply_operation<pad_of<Mode, Amounts...>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<pad_of<Mode, Amounts...>>(permitted, static_cast<X&&>(x));
}
/// Pads with another number, or with a tensor of rank 0; no operand may be pending.
///
///     auto y = pad<1, 1>(x, -1.0F);          // -1 a b c -1
template <index_t... Amounts, NamedOperand X, class Value, internal::Terms Given = across_axes<>>
  requires(sizeof...(Amounts) <= 2 * max_rank && (Scalar<Value> || NamedOperand<Value>))
[[nodiscard]] constexpr internal::outcome_on<
    detail::numbers_call<pad_of<pad_mode::constant, Amounts...>, internal::permitted_by<Given>,
                         void>,
    Given, X, Value>
pad(X&& x, Value&& value, const Given& given = {}) {
  return internal::carry_out_on<detail::numbers_call<pad_of<pad_mode::constant, Amounts...>,
                                                     internal::permitted_by<Given>, void>>(
      given, static_cast<X&&>(x), static_cast<Value&&>(value));
}

}  // namespace shardwise
