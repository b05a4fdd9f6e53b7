// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace shardwise::detail {

/// Returns the option that `Is` accepts, or a default. A second one is an error, since it would
/// have no effect.
template <template <class> class Is, class Default>
[[nodiscard]] constexpr Default option_among() noexcept {
  return {};
}
template <template <class> class Is, class Default, class First, class... Rest>
[[nodiscard]] constexpr decltype(auto) option_among(const First& first, const Rest&... rest) {
  static_assert(!Is<First>::value || !(... || Is<Rest>::value),
                "of masks, of weights and of smoothings a call has one: combine masks with "
                "logical_and, and weights with a product");
  if constexpr (Is<First>::value)
    return (first);
  else
    return option_among<Is, Default>(rest...);
}

}  // namespace shardwise::detail
