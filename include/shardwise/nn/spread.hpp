// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/operation/reshard.hpp"

#include <type_traits>

namespace shardwise::nn {

/// Stands where a module would name the spec of its result: the result is left as it comes out,
/// pending sums too.
struct as_computed {};
/// Stands where a module would have a bias.
struct no_bias {};

}  // namespace shardwise::nn

namespace shardwise::detail {

/// The result of a module under the spec that its type names.
template <class Out, class X>
[[nodiscard]] constexpr decltype(auto) spread(X&& x) {
  if constexpr (std::is_same_v<Out, nn::as_computed>)
    return std::remove_cvref_t<X>(static_cast<X&&>(x));
  else
    return reshard<Out>(static_cast<X&&>(x));
}

}  // namespace shardwise::detail
