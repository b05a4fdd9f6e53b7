// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"
#include "shardwise/core/text.hpp"

namespace shardwise {

/// The ways in which data moves from one layout to another.
enum class collective : unsigned char {
  /// Every device keeps a part of what it holds: no communication.
  slice,
  /// Finishes pending reductions, the result split over the same axes.
  reduce_scatter,
  /// Takes axes from one dimension and splits another with them, or changes the grain of one.
  all_to_all,
  /// Finishes pending reductions, the result held by every device.
  all_reduce,
  /// Takes axes from a dimension: every device of a group gets the whole group's part.
  all_gather,
  /// Every device gets neighbours of its part of a dimension from those that have them.
  halo_exchange,
  /// Every device of a group gets what one other has, or nothing.
  collective_permute,
  /// Every device of a group gets what one of them has.
  broadcast,
};

/// The number of collectives.
inline constexpr int collective_count = 8;

/// The field's name of a collective.
[[nodiscard]] constexpr text_view to_text(collective kind) noexcept {
  constexpr text_view words[] = {"slice",      "reduce_scatter", "all_to_all",         "all_reduce",
                                 "all_gather", "halo_exchange",  "collective_permute", "broadcast"};
  return words[static_cast<unsigned>(kind)];
}

/// How values are reduced over devices: pairwise, as a tree. Of `count` terms in mesh order, the
/// first 2^k (the largest power of two below `count`) are reduced by themselves, then the rest, and
/// then the two results. The shape of the tree depends on `count` alone, so that neighbours may be
/// reduced wherever they are.
[[nodiscard]] constexpr index_t terms_on_the_left(index_t count) noexcept {
  index_t left = 1;
  while (2 * left < count) left *= 2;
  return left;
}

}  // namespace shardwise
