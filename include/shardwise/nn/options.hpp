// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace shardwise::detail {

/// True if `Is` accepts several of these options, of which only the first would have an effect.
template <template <class> class Is, class... Options>
inline constexpr bool is_given_twice = (std::size_t{Is<Options>::value} + ... + 0) > 1;

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

}  // namespace shardwise::detail
