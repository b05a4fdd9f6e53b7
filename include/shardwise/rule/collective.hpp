// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/text.hpp"

namespace shardwise {

/// The collectives that move data from one layout to another.
enum class collective : unsigned char {
  /// Every device keeps a part of what it holds, without communication.
  slice,
  /// Finishes pending reductions; the result is split over the same axes.
  reduce_scatter,
  /// Moves axes from one dimension to another, or changes the grain of a dimension.
  all_to_all,
  /// Finishes pending reductions; every device holds the result.
  all_reduce,
  /// Removes axes from a dimension: every device of a group receives the parts of the whole group.
  all_gather,
  /// Every device receives the halo of its part of a dimension from the devices that hold it.
  halo_exchange,
  /// Every device of a group receives the value of one other device, or nothing.
  collective_permute,
  /// Every device of a group receives the value of one of them.
  broadcast,
};

/// The number of collectives.
inline constexpr int collective_count = 8;

/// Returns the usual name of a collective.
[[nodiscard]] constexpr text_view to_text(collective kind) noexcept {
  constexpr text_view words[] = {"slice",      "reduce_scatter", "all_to_all",         "all_reduce",
                                 "all_gather", "halo_exchange",  "collective_permute", "broadcast"};
  return words[static_cast<unsigned>(kind)];
}

/// How values are reduced over devices: pairwise, as a tree. Of `count` terms in mesh order, the
/// first 2^k (the largest power of two below `count`) are reduced, then the rest, and then the two
/// results. The shape of the tree depends only on `count`, so adjacent terms may be reduced
/// wherever they are.
[[nodiscard]] constexpr index_t terms_on_the_left(index_t count) noexcept {
  index_t left = 1;
  while (2 * left < count) left *= 2;
  return left;
}

}  // namespace shardwise
