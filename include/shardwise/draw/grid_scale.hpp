// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/layout_tiles.hpp"

namespace shardwise::detail {

/// Returns the number of pixels of `part` if `whole` has `pixels`; the operands are halved together
/// until they cannot overflow.
[[nodiscard]] constexpr index_t rescaled(index_t part, index_t pixels, index_t whole) noexcept {
  while (whole > 1_TiB) {
    part /= 2;
    whole /= 2;
  }
  return part * pixels / whole;
}

/// The pixels of each shown part of a dimension.
using pixel_counts = inplace_vector<index_t, most_parts>;

/// The pixels of a gap between parts.
inline constexpr index_t gap_width = 34;

/// Returns the pixels of each shown part; `needs` are the widths of the labels. A label that would
/// make the whole larger than `most` is dropped.
[[nodiscard]] constexpr pixel_counts spread_pixels(const shown_parts& parts,
                                                   const pixel_counts& needs, index_t preferred,
                                                   index_t most) {
  index_t total = 0;
  for (const shown_part& part : parts) total += part.range.size();
  index_t all = preferred;
  for (int i = 0; i < parts.ssize(); ++i) {
    if (parts[i].is_gap()) continue;
    const index_t size = rescaled(parts[i].range.size(), 1 << 20, total);  // as a fraction of 2^20
    const index_t whole = size > 0 ? ceil_div(needs[i] << 20, size) : most + 1;
    if (whole > all && whole <= most) all = whole;
  }
  pixel_counts sizes;
  index_t before = 0;
  for (const shown_part& part : parts) {
    const index_t begin = rescaled(before, all, total);
    before += part.range.size();
    sizes.push_back(part.is_gap() ? gap_width : rescaled(before, all, total) - begin);
  }
  return sizes;
}
/// The sum of some pixels.
[[nodiscard]] constexpr index_t sum_of(const pixel_counts& sizes) {
  index_t total = 0;
  for (index_t size : sizes) total += size;
  return total;
}

/// The maximum size of a grid of blocks; the middle is omitted beyond that.
struct grid_limits {
  index_t columns = 10;
  index_t rows = 8;
  index_t pages = 3;
  /// The maximum and minimum width of a page in pixels, and the maximum height.
  index_t widest = 1300;
  index_t narrowest = 150;
  index_t highest = 320;
};

}  // namespace shardwise::detail
