// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/expression/terms.hpp"

#include <type_traits>

namespace shardwise::detail {

/// Returns the first option that `Is` accepts, or a default.
template <template <class> class Is, class Default>
[[nodiscard]] constexpr Default option_among() noexcept {
  return {};
}
template <template <class> class Is, class Default, class First, class... Rest>
[[nodiscard]] constexpr decltype(auto) option_among(const First& first, const Rest&... rest) {
  if constexpr (Is<First>::value)
    return (first);
  else
    return option_among<Is, Default>(rest...);
}

/// True for the option `across<...>`.
template <class X>
struct is_permission : std::bool_constant<are_across<X>> {};

}  // namespace shardwise::detail
