// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/reshard.hpp"
#include "shardwise/operation/with_rank.hpp"

#include <type_traits>

namespace shardwise::nn {

/// Replaces the spec of a module's result: the result is left as computed, including pending sums.
struct as_computed {};
/// Replaces the bias of a module without one.
struct no_bias {};

}  // namespace shardwise::nn

namespace shardwise::detail {

/// The last dimension of a tensor; 0 for the result of an invalid operation, which functions of it
/// pass on.
template <class X>
inline constexpr int last_dim = X::extents_type::rank - 1;
template <AnyRefused X>
inline constexpr int last_dim<X> = 0;

/// Calls `f` with the last dimension of a tensor as a constant.
template <class X, class F>
[[nodiscard]] constexpr auto with_last_dim(const X& x, const F& f) {
  if constexpr (ValueOperand<X>)
    return with_rank<1, max_rank>(
        x, [&](auto rank) { return f(std::integral_constant<int, rank() - 1>{}); });
  else
    return f(std::integral_constant<int, last_dim<X>>{});
}

/// The number that a `std::ratio` stands for.
template <class Ratio>
inline constexpr double value_of_ratio = double{Ratio::num} / double{Ratio::den};

/// Returns the result of a module with the spec that its type states. An error is passed on as it
/// is, so that compilers show it in the module.
template <class Out, class X>
[[nodiscard]] constexpr decltype(auto) spread(X&& x) {
  if constexpr (AnyRefused<X>)
    return (x);  // a cast would need the whole class, and so be the place of the error
  else if constexpr (std::is_same_v<Out, nn::as_computed>)
    return std::remove_cvref_t<X>(static_cast<X&&>(x));
  else
    return reshard<Out>(static_cast<X&&>(x));
}

}  // namespace shardwise::detail
