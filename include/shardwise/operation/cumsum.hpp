// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/as.hpp"
#include "shardwise/operation/flip.hpp"
#include "shardwise/operation/scan.hpp"

namespace shardwise {

/// The operation that sums all elements up to each along a dimension.
struct cumsum_operation : running_operation<"cumsum", reduction::sum> {
  using emits = operations<flip_operation>;
  /// The sums from each element to the last.
  static constexpr void gradient(gradient_step& at) {
    const gradient_value turned = emit<flip_operation>(at.how(), at.cotangent());
    at.give(0, emit<flip_operation>(at.how(), emit<cumsum_operation>(at.how(), turned)));
  }
};

/// A running sum as types have it, along `Dim`.
template <int Dim>
struct cumsum_of : applied_along<cumsum_operation, Dim> {};

/// The running sum along a dimension: each element is the sum of those up to it, itself among them.
/// Sums are taken one after another, of narrow fractions in `float`, so that every mesh gives the
/// same bits. Each device needs the whole of the dimension, or fetches it over permitted axes;
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
