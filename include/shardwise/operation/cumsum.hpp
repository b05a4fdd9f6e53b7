// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/flip_operation.hpp"
#include "shardwise/operation/scan.hpp"

namespace shardwise {

/// The operation that computes the sum of all elements up to each one along a dimension.
struct cumsum_operation : running_operation<"cumsum", reduction::sum> {
  using emits = operations<flip_operation>;
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
/// including it. Elements are added sequentially, `bfloat16` and `float16` in `float`, so every
/// mesh gives the same bits. The dimension must not be split, or is gathered over permitted axes;
/// pending sums stay pending.
///
///     auto y = cumsum<1>(x);                 // f32[8@data, 4]: 1 2 3 4 becomes 1 3 6 10
///     auto z = cumsum<1>(x, across<"model">);
template <int Dim, NamedOperand X, detail::Terms Given = across_axes<>>
[[nodiscard]] constexpr auto cumsum(X&& x, const Given& permitted = {})
    -> decltype(apply_operation<cumsum_of<Dim>>(permitted, static_cast<X&&>(x))) {
  return apply_operation<cumsum_of<Dim>>(permitted, static_cast<X&&>(x));
}

}  // namespace shardwise
