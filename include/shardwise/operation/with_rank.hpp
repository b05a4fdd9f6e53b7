// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/operand.hpp"

#include <type_traits>

namespace shardwise::detail {

/// Calls `f` with a rank from `Least` to `Most` as a constant.
template <int Least, int Most, class F>
[[nodiscard]] constexpr auto at_rank(int rank, const F& f) {
  if constexpr (Least < Most)
    if (rank != Least) return at_rank<Least + 1, Most>(rank, f);
  return f(std::integral_constant<int, Least>{});
}

}  // namespace shardwise::detail

namespace shardwise::internal {

/// Calls `f` with the rank of a tensor as a constant. Tensors whose layouts are values have `Least`
/// to `Most` dimensions.
template <int Least, int Most, class X, class F>
[[nodiscard]] constexpr auto with_rank(const X& x, const F& f) {
  if constexpr (AnyRefused<X>) {
    return refused_value{};
  } else if constexpr (!ValueOperand<X>) {
    return f(std::integral_constant<int, X::extents_type::rank>{});
  } else {
    const int rank = x.tensor().rank();
    if (rank < Least || rank > Most)
      fail({.rule = violation::operand_rank_differs,
            .operand = 0,
            .have = rank,
            .want = rank < Least ? Least : Most});
    return at_rank<Least, Most>(rank, f);
  }
}

}  // namespace shardwise::internal
