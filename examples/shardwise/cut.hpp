// SPDX-License-Identifier: BSL-1.0
// Which indices every device of a mesh holds, where tiles do not say it.
#pragma once

#include "sizes.hpp"
#include <shardwise/notation/dtensor.hpp>

namespace tool {

/// Indices of one dimension, ascending: ranges with gaps between them, or one that is empty and
/// begins and ends at the extent.
using index_runs = std::vector<index_range>;

/// How many pieces of dimensions an answer lists beyond one for each device.
class piece_room {
 public:
  /// False where there is no more room: what is listed is then not all.
  [[nodiscard]] bool take_one() noexcept { return left_-- > 0; }
  [[nodiscard]] objection check() const {
    if (left_ >= 0) return std::nullopt;
    return refusal("too_many_pieces", "at most " + std::to_string(most_devices) +
                                          " pieces are listed beyond one for each device");
  }

 private:
  index_t left_ = most_devices;
};

/// How the axes of a mesh cut a tensor: placements one after the other as DTensor does, or a layout
/// as the library does.
struct mesh_cut {
  /// One for each axis, or none where every dimension is the layout's.
  dtensor_placements placements{};
  /// Of the dimensions that placements do not cut in their own order.
  layout_desc layout{};

  /// What the device at a position of the mesh holds of dimension `d`.
  [[nodiscard]] index_runs runs(const mesh_desc& mesh, int d, index_t size, index_t position,
                                piece_room& room) const {
    index_runs found;
    const auto add = [&](index_t begin, index_t count) {
      if (!found.empty() && !room.take_one()) return false;
      if (!found.empty() && found.back().end == begin)
        found.back().end += count;
      else
        found.push_back({begin, begin + count});
      return true;
    };
    if (follows_placements(d)) {
      const index_t held = placed_size(mesh, placements, d, size, position);
      for (index_t x = 0, run = 0; x < held; x += run) {
        run = placed_run(mesh, placements, d, size, position, x);
        if (!add(placed_index(mesh, placements, d, size, position, x), run)) break;
      }
    } else {
      const held_range held =
          held_of(mesh, layout.dims[d], layout.grains[d], size, mesh.at(position));
      for (index_t x = 0; x < held.size(); x += held.run(x))
        if (!add(held.global(x), held.run(x))) break;
    }
    if (found.empty()) found.push_back({size, size});
    return found;
  }

  /// Which of those that hold the same the device at a position is.
  [[nodiscard]] index_t replica(const mesh_desc& mesh, index_t position) const noexcept {
    axis_list free;
    for (std::uint8_t a = 0; a < mesh.rank(); ++a) {
      const bool used = placements.empty() ? layout.dim_of(a) >= 0 || layout.is_pending(a)
                                           : placements[a].kind != dtensor_placement::replicate;
      if (!used) free.push_back(a);
    }
    return position_along(mesh, free, mesh.at(position));
  }

 private:
  // Places say another order than that of the mesh, and that is the layout's.
  [[nodiscard]] bool follows_placements(int d) const noexcept {
    for (const dtensor_placement& one : placements)
      if (one.splits(d) && one.place >= 0) return false;
    return !placements.empty();
  }
};

/// What one device holds of a tensor.
struct device_shard {
  index_t device = 0;
  std::vector<index_runs> index{};  ///< of each dimension
  index_t replica = 0;

  [[nodiscard]] extents_desc local_shape() const noexcept {
    extents_desc extents;
    for (const index_runs& runs : index) {
      extents.push_back(0);
      for (const index_range& range : runs) extents[extents.ssize() - 1] += range.size();
    }
    return extents;
  }
};

}  // namespace tool
