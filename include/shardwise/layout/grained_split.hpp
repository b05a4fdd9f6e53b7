// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/grain.hpp"
#include "shardwise/layout/index_range.hpp"

namespace shardwise {

/// The distribution of `size` elements over `parts` devices under a grain that is not contiguous,
/// in closed form.
///
/// Devices have positions `0 <= p < parts`. A device keeps its elements in ascending order, and the
/// `x`-th of them has local index `x`. *Storage order* is the elements of position 0, then those of
/// position 1, and so on; in it the elements of each device are contiguous.
///
///     constexpr grained_split rows{grain::cyclic(2), 9, 2};      // 0 0 1 1 0 0 1 1 0
///     static_assert(rows.count(0) == 5 && rows.global(1, 2) == 6);
struct grained_split {
  /// A position and a local index on it.
  struct place {
    index_t position = 0;
    index_t local = 0;

    friend constexpr bool operator==(const place&, const place&) = default;
  };

  /// A run of consecutive global indices, and the position that holds them.
  struct portion {
    index_t position = 0;
    index_range range{};
  };

  grain how{};
  index_t size = 0;
  index_t parts = 1;

  /// Returns where the elements of position `p` begin in storage order; `offset(parts) == size`.
  [[nodiscard]] constexpr index_t offset(index_t p) const noexcept {
    return full_rounds() * least(p * piece(), round()) + rest_before(p);
  }
  /// Returns the number of elements of position `p` (ScaLAPACK's `numroc`). Position 0 has the
  /// most.
  [[nodiscard]] constexpr index_t count(index_t p) const noexcept {
    return offset(p + 1) - offset(p);
  }
  /// Returns the global index of local index `x` of position `p`, `0 <= x < count(p)`.
  [[nodiscard]] constexpr index_t global(index_t p, index_t x) const noexcept {
    const index_t in_full = per_round(p);
    if (x < full_rounds() * in_full)
      return x / in_full * round() + least(p * piece(), round()) + x % in_full;
    return full_rounds() * round() + rest_before(p) + (x - full_rounds() * in_full);
  }
  /// Returns the position that holds a global index, and the local index there.
  [[nodiscard]] constexpr place find(index_t i) const noexcept {
    const index_t turn = i / round();
    const index_t along = i % round();
    const index_t p = along / (turn < full_rounds() ? piece() : rest_piece());
    const index_t begin = turn < full_rounds() ? p * piece() : rest_before(p);
    return {p, turn * per_round(p) + along - begin};
  }
  /// Returns how many consecutive global indices start at local index `x` of position `p`.
  [[nodiscard]] constexpr index_t run(index_t p, index_t x) const noexcept {
    const index_t in_full = per_round(p);
    return x < full_rounds() * in_full ? in_full - x % in_full : count(p) - x;
  }

  /// The number of elements in one round: one block for every position, or a chunk.
  [[nodiscard]] constexpr index_t round() const noexcept {
    if (how.is_cyclic()) return how.number() * parts;
    return size == 0 ? 1 : ceil_div(size, how.number());
  }
  /// The number of elements of position 0 in a full round.
  [[nodiscard]] constexpr index_t piece() const noexcept {
    return how.is_cyclic() ? how.number() : ceil_div(round(), parts);
  }

  /// The number of runs that are not empty, and the runs in ascending order of global indices.
  [[nodiscard]] constexpr index_t pieces() const noexcept {
    return full_rounds() * ceil_div(round(), piece()) +
           (rest() > 0 ? ceil_div(rest(), rest_piece()) : 0);
  }
  [[nodiscard]] constexpr portion piece_at(index_t number) const noexcept {
    const index_t a_round = ceil_div(round(), piece());
    const index_t turn = least(number / a_round, full_rounds());
    const index_t p = number - turn * a_round;
    const index_t first = turn * round();
    if (turn == full_rounds()) return {p, {first + rest_before(p), first + rest_before(p + 1)}};
    return {p, {first + p * piece(), first + least((p + 1) * piece(), round())}};
  }

 private:
  [[nodiscard]] static constexpr index_t least(index_t a, index_t b) noexcept {
    return a < b ? a : b;
  }
  [[nodiscard]] constexpr index_t full_rounds() const noexcept { return size / round(); }
  [[nodiscard]] constexpr index_t rest() const noexcept { return size % round(); }
  /// The number of elements of position 0 in the last, short round.
  [[nodiscard]] constexpr index_t rest_piece() const noexcept {
    return how.is_cyclic() ? how.number() : ceil_div(rest(), parts);
  }
  [[nodiscard]] constexpr index_t rest_before(index_t p) const noexcept {
    return least(p * rest_piece(), rest());
  }
  [[nodiscard]] constexpr index_t per_round(index_t p) const noexcept {
    return least((p + 1) * piece(), round()) - least(p * piece(), round());
  }
};

}  // namespace shardwise
