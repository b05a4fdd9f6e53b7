// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"

#include <concepts>

namespace shardwise {

/// The global extents of a tensor as a type; `dyn` for extents known only at run time.
///
///     extents<dyn, 1024>                      // any number of rows of 1024
template <index_t... Sizes>
struct extents {
  static constexpr int rank = int{sizeof...(Sizes)};
  static constexpr int dynamic_rank = (0 + ... + int{Sizes == dyn});
  static constexpr extents_desc value{Sizes...};
};

/// More extents than a tensor may have: they have no value, and a tensor with them is rejected.
template <index_t A, index_t B, index_t C, index_t D, index_t E, index_t F, index_t G, index_t H,
          index_t I, index_t... More>
struct extents<A, B, C, D, E, F, G, H, I, More...> {
  static constexpr int rank = max_rank + 1 + int{sizeof...(More)};
};

/// Returns the extents of a type with its dyn sizes filled in, in order.
template <class Extents, std::convertible_to<index_t>... Sizes>
  requires(sizeof...(Sizes) == Extents::dynamic_rank)
[[nodiscard]] constexpr extents_desc sized_extents(Sizes... sizes) noexcept {
  extents_desc known = Extents::value;
  const inplace_vector<index_t, max_rank + 1> given{static_cast<index_t>(sizes)..., index_t{}};
  int next = 0;
  for (index_t& size : known)
    if (size == dyn) size = given[next++];
  return known;
}

}  // namespace shardwise
