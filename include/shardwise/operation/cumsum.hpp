// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/operation/scan.hpp"
#include "shardwise/operation/scan_in_parts.hpp"

namespace shardwise {

/// The operation that computes the sum of all elements up to each one along a dimension.
struct cumsum_operation : running_operation<"cumsum", reduction::sum> {
  using combination = detail::combined_by<functions::add>;
  using emits = emitted_operations<flip_operation>;
  /// The cotangent is the sum from each element to the last.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value turned = emit<flip_operation>(at.how(), at.cotangent());
    at.give(0, emit<flip_operation>(at.how(), emit<cumsum_operation>(at.how(), turned)));
  }
};

/// A running sum along `Dim` whose attributes are types.
template <int Dim>
struct cumsum_of : applied_along<cumsum_operation, Dim> {};

/// Returns the running sum along a dimension: each element is the sum of all elements up to and
/// including it. Elements are added sequentially, `bfloat16` and `float16` in `float`. The
/// dimension must not be split; pending sums stay pending.
///
///     auto y = cumsum<1>(x);                 // f32[8@data, 4]: 1 2 3 4 becomes 1 3 6 10
///
/// If axes are permitted that split the dimension, it stays split: each device adds the elements of
/// its own part, then the total of the parts before it, which takes an `all_gather` of one element
/// for each line and part. How results are rounded depends on the parts. If parts other than the
/// last one are unequal or not contiguous, or sums are pending, the dimension is gathered.
///
///     auto z = cumsum<1>(x, across<"model">);     // f32[8@data, 64@model]
template <int Dim, NamedOperand X, internal::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto cumsum(X&& x, const Given& permitted = {})
    -> decltype(detail::apply_scan<cumsum_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return detail::apply_scan<cumsum_of<Dim>>(permitted, static_cast<X&&>(x));
}

}  // namespace shardwise
