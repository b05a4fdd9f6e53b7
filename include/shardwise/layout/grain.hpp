// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/index.hpp"

namespace shardwise {

/// How the elements of a split dimension are distributed over its devices: one contiguous part
/// each, cut axis by axis (the default); one contiguous part each, cut once over all axes (as in
/// HLO and JAX); blocks distributed round-robin (block-cyclic, as in ScaLAPACK and Elemental); or a
/// part of each of several chunks (strided, DTensor's `_StridedShard`).
///
/// Contiguous parts may also have a halo: copies of adjacent elements that belong to other devices.
/// Only windows read halos: those of convolutions, pooling, stencils, slices and padding.
///
/// A grain applies to all axes of a dimension together, with devices numbered along them, major to
/// minor. The grain of a dimension that is not split is contiguous.
struct grain {
  /// The largest block and the largest number of chunks.
  static constexpr index_t largest = index_t{1} << 30;
  /// One more than the largest halo on one side.
  static constexpr index_t halo_end = index_t{1} << 15;

  /// 0 for one contiguous part, the block size if positive, minus the number of chunks if negative;
  /// a single cut has one chunk. Values below these encode both sides of a halo as one number.
  // Without an initializer, so that arrays of grains take no memory in constants until one is set.
  std::int32_t code;

  /// Returns the grain for blocks of `block` elements (1 or more) distributed round-robin: element
  /// `i` is on device `i / block % k`.
  [[nodiscard]] static constexpr grain cyclic(index_t block) noexcept {
    return {static_cast<std::int32_t>(block)};
  }
  /// Returns the grain for `factor` chunks (2 or more), each of which is split over all devices.
  [[nodiscard]] static constexpr grain strided(index_t factor) noexcept {
    return {static_cast<std::int32_t>(-factor)};
  }

  /// Returns the grain for one cut along several axes: `ceil(n / k)` elements each, trailing parts
  /// short or empty.
  [[nodiscard]] static constexpr grain single_cut() noexcept { return {-1}; }

  /// Returns the grain for contiguous parts, cut axis by axis, with a halo of this many elements on
  /// each side.
  [[nodiscard]] static constexpr grain halo(index_t before, index_t behind) noexcept {
    return before == 0 && behind == 0
               ? grain{0}
               : grain{static_cast<std::int32_t>(-largest - 1 - (before * halo_end + behind))};
  }

  /// True for contiguous parts that are cut axis by axis; a single cut is a different grain.
  [[nodiscard]] constexpr bool is_contiguous() const noexcept { return code == 0; }
  [[nodiscard]] constexpr bool is_cyclic() const noexcept { return code > 0; }
  [[nodiscard]] constexpr bool is_strided() const noexcept { return code < -1 && !is_halo(); }
  [[nodiscard]] constexpr bool is_halo() const noexcept { return code < -largest; }
  [[nodiscard]] constexpr bool is_single_cut() const noexcept { return code == -1; }
  /// Returns the number of elements in the halo before and after a part.
  [[nodiscard]] constexpr index_t before() const noexcept {
    return is_halo() ? (-largest - 1 - code) / halo_end : 0;
  }
  [[nodiscard]] constexpr index_t behind() const noexcept {
    return is_halo() ? (-largest - 1 - code) % halo_end : 0;
  }
  /// Returns this grain without its halo.
  [[nodiscard]] constexpr grain without_halo() const noexcept {
    return is_halo() ? grain{0} : *this;
  }
  /// Returns the block size or the number of chunks; 1 for contiguous parts.
  [[nodiscard]] constexpr index_t number() const noexcept {
    return code == 0 || is_halo() ? 1 : code < 0 ? -index_t{code} : index_t{code};
  }
  /// Returns the number of which an extent must be a multiple to be split evenly over `parts`
  /// devices.
  [[nodiscard]] constexpr index_t unit(index_t parts) const noexcept { return number() * parts; }

  /// Returns this grain for a dimension split over `axes` axes: contiguous without axes, and cut
  /// axis by axis instead of once over a single axis, which is the same.
  [[nodiscard]] constexpr grain over(int axes) const noexcept {
    return axes == 0 || (axes == 1 && is_single_cut()) ? grain{0} : *this;
  }

  friend constexpr bool operator==(const grain&, const grain&) = default;
};

}  // namespace shardwise
