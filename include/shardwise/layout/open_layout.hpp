// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_desc.hpp"

namespace shardwise {

/// The layout of a value while layouts are propagated through a program: the axes that split each
/// dimension so far, and whether propagation may add others.
///
/// An open dimension may be split by further axes, behind those that it has; a closed one keeps its
/// axes. Dimensions that nothing is said about are open. In text, as Shardy writes it, an open
/// dimension ends with `?`, and `pN` is its priority:
///
///     [{"data", ?}, {}]      // rows over data and maybe more, columns whole
///     [{"data"}, {?}p1]      // columns take part from the second round on
struct open_layout {
  inplace_vector<axis_list, max_rank> dims{};
  /// One bit for each dimension.
  std::uint8_t closed = 0;
  /// The axes that must not split any dimension, one bit for each.
  std::uint8_t replicated = 0;
  /// The round in which the axes and the openness of a dimension begin to count: those with
  /// priority 0 are propagated first, as far as they go.
  std::uint8_t priorities[max_rank]{};

  [[nodiscard]] constexpr int rank() const noexcept { return dims.ssize(); }
  [[nodiscard]] constexpr bool is_closed(int d) const noexcept { return (closed >> d & 1) != 0; }
  constexpr void close(int d) noexcept { closed = static_cast<std::uint8_t>(closed | 1U << d); }

  /// Returns a layout whose dimensions are open and not split.
  [[nodiscard]] static constexpr open_layout unknown(int rank) noexcept {
    open_layout out;
    for (int d = 0; d < rank; ++d) out.dims.push_back({});
    return out;
  }
  /// Returns the splits of a layout, with closed dimensions.
  [[nodiscard]] static constexpr open_layout exactly(const layout_desc& layout) noexcept {
    open_layout out = unknown(layout.rank());
    for (int d = 0; d < layout.rank(); ++d) {
      out.dims[d] = layout.dims[d];
      out.close(d);
    }
    return out;
  }
  /// Returns the splits of a layout: closed where a dimension is split, open elsewhere.
  [[nodiscard]] static constexpr open_layout at_least(const layout_desc& layout) noexcept {
    open_layout out = unknown(layout.rank());
    for (int d = 0; d < layout.rank(); ++d) {
      out.dims[d] = layout.dims[d];
      if (!layout.dims[d].empty()) out.close(d);
    }
    return out;
  }
  /// Returns the layout with the same splits.
  [[nodiscard]] constexpr layout_desc layout() const noexcept {
    layout_desc out;
    out.dims = dims;
    return out;
  }

  friend constexpr bool operator==(const open_layout&, const open_layout&) = default;
};

}  // namespace shardwise
