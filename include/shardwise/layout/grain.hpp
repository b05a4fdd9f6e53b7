// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

namespace shardwise {

/// How the elements of a split dimension are assigned to its devices: one contiguous part for each,
/// cut axis by axis (the default); one contiguous part for each, cut once over all axes (HLO's
/// tiles and JAX's shards); blocks distributed round-robin (block-cyclic, ScaLAPACK's and
/// Elemental's); or a piece of each of several chunks (strided, DTensor's `_StridedShard`).
///
/// A contiguous part may have a halo besides: neighbours that other devices have too. It is what
/// windows read of a split dimension, and nothing else does.
///
/// It belongs to all axes of the dimension together: devices are numbered along them, major to
/// minor. It has no meaning where no axis splits the dimension, and is contiguous there.
struct grain {
  /// The largest block and the largest number of chunks.
  static constexpr index_t largest = index_t{1} << 30;
  /// One more than the most neighbours on one side of a halo.
  static constexpr index_t halo_end = index_t{1} << 15;

  /// 0 for one contiguous part, the elements of a block, or the number of chunks below zero: a
  /// single cut has one. Below all of these both sides of a halo as one number.
  // Without an initializer: arrays of grains then take no memory in constants until one is set.
  std::int32_t code;

  /// Blocks of `block` elements (1 or more), distributed round-robin: element `i` is on device
  /// `i / block % k`.
  [[nodiscard]] static constexpr grain cyclic(index_t block) noexcept {
    return {static_cast<std::int32_t>(block)};
  }
  /// Each of `factor` chunks (2 or more) is cut into a piece for each device.
  [[nodiscard]] static constexpr grain strided(index_t factor) noexcept {
    return {static_cast<std::int32_t>(-factor)};
  }

  /// The devices along several axes get `ceil(n / k)` elements each, trailing ones fewer or none.
  [[nodiscard]] static constexpr grain single_cut() noexcept { return {-1}; }

  /// Contiguous parts, cut axis by axis, with so many of the elements before and behind them.
  [[nodiscard]] static constexpr grain halo(index_t before, index_t behind) noexcept {
    return before == 0 && behind == 0
               ? grain{0}
               : grain{static_cast<std::int32_t>(-largest - 1 - (before * halo_end + behind))};
  }

  /// True for contiguous parts that are cut axis by axis; those of a single cut are another grain.
  [[nodiscard]] constexpr bool is_contiguous() const noexcept { return code == 0; }
  [[nodiscard]] constexpr bool is_cyclic() const noexcept { return code > 0; }
  [[nodiscard]] constexpr bool is_strided() const noexcept { return code < -1 && !is_halo(); }
  [[nodiscard]] constexpr bool is_halo() const noexcept { return code < -largest; }
  [[nodiscard]] constexpr bool is_single_cut() const noexcept { return code == -1; }
  /// The elements before and behind a part that belong to its halo.
  [[nodiscard]] constexpr index_t before() const noexcept {
    return is_halo() ? (-largest - 1 - code) / halo_end : 0;
  }
  [[nodiscard]] constexpr index_t behind() const noexcept {
    return is_halo() ? (-largest - 1 - code) % halo_end : 0;
  }
  /// This grain without a halo.
  [[nodiscard]] constexpr grain without_halo() const noexcept {
    return is_halo() ? grain{0} : *this;
  }
  /// The elements of a block, or the number of chunks; 1 where the grain is contiguous.
  [[nodiscard]] constexpr index_t number() const noexcept {
    return code == 0 || is_halo() ? 1 : code < 0 ? -index_t{code} : index_t{code};
  }
  /// Extents that are multiples of this are split evenly over `parts` devices.
  [[nodiscard]] constexpr index_t unit(index_t parts) const noexcept { return number() * parts; }

  /// This grain where so many axes split a dimension: without axes it has no meaning, and over one
  /// axis a single cut is the cut of that axis.
  [[nodiscard]] constexpr grain over(int axes) const noexcept {
    return axes == 0 || (axes == 1 && is_single_cut()) ? grain{0} : *this;
  }

  friend constexpr bool operator==(const grain&, const grain&) = default;
};

}  // namespace shardwise
