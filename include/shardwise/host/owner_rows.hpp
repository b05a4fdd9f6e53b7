// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/shard.hpp"
#include "shardwise/mesh/device_owners.hpp"

#include <algorithm>
#include <vector>

namespace shardwise {

/// The rows (indices along dimension 0) of a tensor that each owner of a mesh holds, in their
/// global order; a row that several of its devices hold counts once.
///
///     // 5 rows, split unevenly over 4 devices, two of each owner
///     const owner_rows rows(line, batch, owners);
///     rows.count(0, 5) == 4      // and of owner 1: 1
///     rows.whole({4, 1}) == 5
class owner_rows {
 public:
  constexpr owner_rows(const mesh_desc& mesh, const layout_desc& layout,
                       const device_owners& owners) noexcept
      : mesh_(mesh), layout_(layout), owners_(owners) {}

  /// Checks that rows are split into contiguous parts, and that nothing is pending.
  [[nodiscard]] constexpr diagnosis verdict() const noexcept {
    if (layout_.rank() == 0)
      return {.rule = violation::rank_differs_from_spec, .have = 0, .want = 1};
    for (int a = 0; a < mesh_.rank(); ++a)
      if (layout_.is_pending(a))
        return {.rule = violation::reshard_would_create_partial, .axis = mesh_.axes[a].label};
    if (!layout_.grains[0].is_contiguous() && !layout_.grains[0].is_single_cut())
      return {.rule = violation::host_batch_is_not_contiguous, .dim = 0};
    return {};
  }

  /// Returns the rows of a device, of a tensor with `rows` of them.
  [[nodiscard]] constexpr index_range of_device(index_t device, index_t rows) const noexcept {
    const held_range held =
        held_of(mesh_, layout_.dims[0], layout_.grains[0], rows, mesh_.at(device));
    const index_t begin = held.size() > 0 ? held.global(0) : rows;
    return {begin, begin + held.size()};
  }
  /// Returns the rows of an owner, as the ranges of its devices in ascending order.
  [[nodiscard]] constexpr std::vector<index_range> of(index_t owner, index_t rows) const {
    std::vector<index_range> all;
    for (index_t device = 0; device < mesh_.devices(); ++device) {
      if (owners_.owner_of(device) != owner) continue;
      const index_range range = of_device(device, rows);
      const auto is_same = [&](const index_range& each) { return each.begin == range.begin; };
      if (!range.empty() && std::none_of(all.begin(), all.end(), is_same)) all.push_back(range);
    }
    std::sort(all.begin(), all.end(),
              [](const index_range& a, const index_range& b) { return a.begin < b.begin; });
    return all;
  }
  /// Returns the number of rows of an owner.
  [[nodiscard]] constexpr index_t count(index_t owner, index_t rows) const {
    index_t sum = 0;
    for (const index_range& each : of(owner, rows)) sum += each.size();
    return sum;
  }
  /// Returns true if the owners have these numbers of rows of a tensor with `rows` of them.
  [[nodiscard]] constexpr bool fits(const std::vector<index_t>& given, index_t rows) const {
    for (index_t owner = 0; owner < owners_.count(); ++owner)
      if (count(owner, rows) != given[static_cast<std::size_t>(owner)]) return false;
    return true;
  }
  /// Returns the number of rows of the tensor of which the owners have these; if there is none, the
  /// sum of those that owners do not share.
  [[nodiscard]] constexpr index_t whole(const std::vector<index_t>& given) const {
    // One row for each part shows which owners have the same parts.
    const index_t parts = mesh_.parts(layout_.dims[0]);
    index_t sum = 0, all = 0, least = 0;
    for (index_t owner = 0; owner < owners_.count(); ++owner) {
      const index_t have = given[static_cast<std::size_t>(owner)];
      const std::vector<index_range> mine = of(owner, parts);
      bool is_first = true;
      for (index_t other = 0; other < owner; ++other)
        is_first = is_first && of(other, parts) != mine;
      if (is_first) sum += have;
      all += have;
      // The largest part has at least the mean of those of an owner.
      const auto own = static_cast<index_t>(mine.size());
      least = std::max(least, own > 0 ? parts * (ceil_div(have, own) - 1) : 0);
    }
    if (fits(given, sum)) return sum;
    // Owners share some of their parts.
    for (index_t rows = std::max<index_t>(least, 0); rows <= all; ++rows)
      if (fits(given, rows)) return rows;
    return sum;
  }

 private:
  mesh_desc mesh_;
  layout_desc layout_;
  device_owners owners_;
};

}  // namespace shardwise
