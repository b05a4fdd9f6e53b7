// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/single_cut.hpp"
#include "shardwise/layout/tensor_desc.hpp"
#include "shardwise/plan/transfer.hpp"
#include "shardwise/rule/propagation.hpp"

namespace shardwise {

/// From which device each device receives its shard if a layout only hands shards to other devices:
/// every dimension has the same parts before and after, split by other axes or in another order.
///
/// A device's position along the axes after it is that of its source along the axes before it. An
/// axis that only one of the layouts uses takes the place of one that only the other uses, in mesh
/// order, so that every device sends to exactly one.
///
///     // 8@x becomes 8@y on a mesh of 2 x 2 devices: device (0, 1) receives from (1, 0)
///     shard_permutation(mesh, {{axis_list{0}}}, {{axis_list{1}}}).source_of(1);   // 2
class shard_permutation {
 public:
  constexpr shard_permutation(const mesh_desc& mesh, const layout_desc& before,
                              const layout_desc& after) noexcept
      : mesh_(mesh) {
    for (int d = 0; d < before.rank(); ++d) {
      const axis_list &from = before.dims[d], &to = after.dims[d];
      // Along an axis that counts the same parts before and after, every device stays where it is.
      const auto stays = [&](std::uint8_t a) {
        return from.contains(a) && to.contains(a) && parts_behind(from, a) == parts_behind(to, a);
      };
      for (std::uint8_t a : from)
        if (!stays(a)) before_.push_back(a);
      for (std::uint8_t a : to)
        if (!stays(a)) after_.push_back(a);
    }
    const axis_list used_before = before_, used_after = after_;
    for (std::uint8_t a = 0; a < mesh.axes.size(); ++a) {
      if (used_after.contains(a) && !used_before.contains(a)) before_.push_back(a);
      if (used_before.contains(a) && !used_after.contains(a)) after_.push_back(a);
    }
  }

  /// Returns the axes along which devices exchange shards, in mesh order.
  [[nodiscard]] constexpr axis_list axes() const noexcept {
    axis_list all;
    for (std::uint8_t a = 0; a < mesh_.axes.size(); ++a)
      if (before_.contains(a)) all.push_back(a);
    return all;
  }
  /// Returns the device from which a device receives its shard.
  [[nodiscard]] constexpr index_t source_of(index_t device) const noexcept {
    coordinates where = mesh_.at(device);
    index_t position = 0;
    for (std::uint8_t a : after_) position = position * mesh_.size(a) + where[a];
    for (int i = before_.ssize() - 1; i >= 0; --i) {
      where[before_[i]] = position % mesh_.size(before_[i]);
      position /= mesh_.size(before_[i]);
    }
    return mesh_.device(where);
  }

 private:
  /// Returns the number of parts into which the axes minor to one split a part.
  [[nodiscard]] constexpr index_t parts_behind(const axis_list& axes,
                                               std::uint8_t axis) const noexcept {
    index_t parts = 1;
    for (int i = axes.ssize() - 1; axes[i] != axis; --i) parts *= mesh_.size(axes[i]);
    return parts;
  }

  mesh_desc mesh_;
  /// The axes that split dimensions before and after, followed by those that take their place.
  axis_list before_{};
  axis_list after_{};
};

namespace detail {

/// Returns true if a dimension of `size` elements has the same parts whichever of two lists of axes
/// splits it with this grain.
[[nodiscard]] constexpr bool have_same_parts(const mesh_desc& mesh, const axis_list& a,
                                             const axis_list& b, grain how, index_t size) noexcept {
  const axis_list x = real_axes(mesh, a), y = real_axes(mesh, b);
  // Other grains number their parts over all axes.
  if (!how.is_contiguous()) return !how.is_halo() && mesh.parts(x) == mesh.parts(y);
  bool is_same = x.size() == y.size();
  for (int i = 0; i < x.ssize() && is_same; ++i) is_same = mesh.size(x[i]) == mesh.size(y[i]);
  return is_same || (mesh.parts(x) == mesh.parts(y) && is_cut_alike(mesh, x, size) &&
                     is_cut_alike(mesh, y, size));
}

}  // namespace detail

/// Returns true if the second layout only hands the shards of the first to other devices. Both are
/// valid for these extents.
[[nodiscard]] constexpr bool is_shard_permutation(const mesh_desc& mesh,
                                                  const extents_desc& extents,
                                                  const layout_desc& before,
                                                  const layout_desc& after) noexcept {
  bool changes = false;
  for (int d = 0; d < before.rank(); ++d) {
    if (!(before.grains[d] == after.grains[d])) return false;
    if (before.dims[d] == after.dims[d]) continue;
    changes = true;
    if (!detail::have_same_parts(mesh, before.dims[d], after.dims[d], before.grains[d], extents[d]))
      return false;
  }
  return changes && before.pending == after.pending && before.manual == after.manual;
}

/// Returns true if a collective is such a permutation. In a `collective_permute` that a program
/// calls, devices exchange values, and the layout stays the same.
[[nodiscard]] constexpr bool permutes_shards(const layout_desc& before,
                                             const planned_transfer& step) noexcept {
  return step.kind == collective::collective_permute && !(before.dims == step.after.dims);
}

}  // namespace shardwise
