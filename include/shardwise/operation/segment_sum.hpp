// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/arithmetic.hpp"
#include "shardwise/operation/iota_like.hpp"
#include "shardwise/operation/take.hpp"

namespace shardwise {

/// Sums by index whose attributes are types.
template <int Dim, index_t Count, out_of_range Mode>
struct segment_sum_of {
  using operation_class = segment_sum_operation;
  static constexpr attributes how = integer_attributes(Dim, Count, static_cast<int>(Mode));
};

template <int Dim, index_t Count, out_of_range Mode>
struct sum_along_of {
  using operation_class = sum_along_operation;
  static constexpr attributes how = integer_attributes(Dim, Count, static_cast<int>(Mode));
};

/// Returns `Count` sums of elements: each element is added to the sum whose number `ids` holds at
/// its position. The dimensions of `ids` are those of `x` from `Dim` on, which the result replaces
/// by one. If they are split, the result is a pending sum. This is the gradient of `take`.
///
///     auto counted = segment_sum<0, 10>(x, ids);     // f32[64@data, 8], i32[64@data] ->
///                                                    // f32[10, 8]{partial sum: data}
template <int Dim, index_t Count, out_of_range Mode = out_of_range::error, NamedOperand X,
          NamedOperand Ids, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto segment_sum(X&& x, Ids&& ids, Given permitted = {})
    -> decltype(apply_operation<segment_sum_of<Dim, Count, Mode>>(permitted, static_cast<X&&>(x),
                                                                  static_cast<Ids&&>(ids))) {
  return apply_operation<segment_sum_of<Dim, Count, Mode>>(permitted, static_cast<X&&>(x),
                                                           static_cast<Ids&&>(ids));
}

/// Returns how often each of the numbers from 0 to `Count - 1` occurs: `segment_sum` of ones. If
/// the numbers are split, the result is a pending sum.
///
///     auto often = bincount<10>(labels);             // i32[64@data] -> i64[10]{partial sum: data}
template <index_t Count, out_of_range Mode = out_of_range::error, NamedOperand Ids,
          internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto bincount(const Ids& ids, const Given& given = {}) {
  return segment_sum<0, Count, Mode>(iota_like<0>(ids) * 0 + 1, ids, given);
}

/// Returns `Count` sums along a dimension: each element is added to the sum whose number `ids`, of
/// the extents of `x`, holds at its position. If the dimension is split, the result is a pending
/// sum.
///
///     auto counted = sum_along<1, 10>(x, ids);       // f32[8@data, 4], i32[8@data, 4] ->
///                                                    // f32[8@data, 10]
template <int Dim, index_t Count, out_of_range Mode = out_of_range::error, NamedOperand X,
          NamedOperand Ids, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto sum_along(X&& x, Ids&& ids, Given permitted = {})
    -> decltype(apply_operation<sum_along_of<Dim, Count, Mode>>(permitted, static_cast<X&&>(x),
                                                                static_cast<Ids&&>(ids))) {
  return apply_operation<sum_along_of<Dim, Count, Mode>>(permitted, static_cast<X&&>(x),
                                                         static_cast<Ids&&>(ids));
}

}  // namespace shardwise
