// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/squeeze.hpp"
#include "shardwise/rule/operation.hpp"

#include <type_traits>
#include <utility>

namespace shardwise::detail {

/// Calls `f` with the rank of a tensor `[batch, channels, spatial...]` as a constant. Tensors whose
/// layouts are values have up to three spatial dimensions.
template <class X, class F>
[[nodiscard]] constexpr auto with_rank(const X& x, const F& f) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else if constexpr (!ValueOperand<X>) {
    return f(std::integral_constant<int, X::extents_type::rank>{});
  } else {
    const int rank = x.tensor().rank();
    if (rank < 2 || rank > 5)
      fail({.rule = violation::operand_rank_differs,
            .operand = 0,
            .have = rank,
            .want = rank < 2 ? 2 : 5});
    if (rank == 3) return f(std::integral_constant<int, 3>{});
    if (rank == 4) return f(std::integral_constant<int, 4>{});
    if (rank == 5) return f(std::integral_constant<int, 5>{});
    return f(std::integral_constant<int, 2>{});
  }
}

/// Returns one number for each channel, `[channels]`, in the shape that is broadcast to `[batch,
/// channels, spatial...]`.
template <int Rank, class X>
[[nodiscard]] constexpr auto beside_positions(const X& of_channels) {
  if constexpr (AnyRefused<X>)
    return refused_value{};
  else if constexpr (Rank < 3)
    return X(of_channels);
  else
    return [&]<int... D>(std::integer_sequence<int, D...>) {
      return unsqueeze<(D + 1)...>(of_channels);
    }
  (std::make_integer_sequence<int, Rank - 2>{});
}

}  // namespace shardwise::detail
