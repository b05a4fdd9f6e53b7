// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/layout_tiles.hpp"
#include "shardwise/notation/dtensor.hpp"

namespace shardwise::detail {

/// The maximum number of pieces of one dimension with which strided shards are drawn.
inline constexpr index_t most_pieces = 4096;

/// Returns an upper bound for the number of pieces into which these placements split dimension `d`.
[[nodiscard]] constexpr index_t piece_count(const mesh_desc& mesh,
                                            const dtensor_placements& placements, int d) noexcept {
  index_t pieces = 1;
  for (int a = 0; a < placements.ssize(); ++a) {
    if (!placements[a].splits(d)) continue;
    const index_t more = placements[a].factor * mesh.size(a);
    if (more > most_pieces || pieces > most_pieces / more) return most_pieces + 1;
    pieces *= more;
  }
  return pieces;
}

/// The pieces of a tensor with strided shards, as in DTensor: a device may hold several pieces of a
/// dimension. Extents must not be negative, and each dimension has at most `most_pieces` pieces.
class placement_tiles {
 public:
  constexpr placement_tiles(const mesh_desc& mesh, const dtensor_placements& placements,
                            const extents_desc& extents, bool sized,
                            const index_t* names = nullptr) noexcept
      : mesh_(mesh), placements_(placements), extents_(extents), names_(names), sized_(sized) {
    for (int a = 0; a < placements.ssize(); ++a) {
      const auto axis = static_cast<std::uint8_t>(a);
      if (placements[a].kind == dtensor_placement::replicate) free_.push_back(axis);
      if (placements[a].kind == dtensor_placement::partial) pending_.push_back(axis);
    }
  }

  /// Returns true if a device holds no index of some dimension.
  [[nodiscard]] constexpr bool is_empty(index_t place) const noexcept {
    for (int d = 0; d < rank(); ++d)
      if (placed_size(mesh_, placements_, d, extents_[d], place) == 0) return true;
    return false;
  }

  [[nodiscard]] constexpr int rank() const noexcept { return extents_.ssize(); }
  [[nodiscard]] constexpr bool is_sized() const noexcept { return sized_; }
  [[nodiscard]] constexpr index_t extent(int d) const noexcept { return extents_[d]; }
  [[nodiscard]] constexpr shown_parts parts(int d, index_t limit) const noexcept {
    index_t count = 0;
    (void)part(d, 0, count);
    return number_parts(count, limit, [&](index_t i) { return part(d, i, count); });
  }
  /// A part is a run of indices that the same devices hold; its number is its first index.
  [[nodiscard]] constexpr shown_part part(int d, index_t wanted, index_t& count) const noexcept {
    shown_part found;
    count = 0;
    coordinates where;
    for (index_t x = 0; x < extents_[d]; ++count) {
      const index_t length = run(d, x, where);
      if (count <= wanted) found = {x, {x, x + length}};
      x += length;
    }
    return found;
  }
  [[nodiscard]] constexpr cell_text label(int, const shown_part& part) const noexcept {
    cell_text words;
    if (part.is_gap()) return words << "...";
    return sized_ ? words << part.range : words << part.number;
  }
  [[nodiscard]] constexpr holders who(const part_numbers& at) const noexcept {
    const index_t first = mesh_.device(owner(at));
    return {device_set(mesh_, free_, first, names_), device_set(mesh_, pending_, first, names_)};
  }
  [[nodiscard]] constexpr index_t block(const part_numbers& at) const noexcept {
    return number(owner(at));
  }
  [[nodiscard]] constexpr index_t block_of(const holders& all) const noexcept {
    const index_t place = all.replicas.place(0);
    return is_empty(place) ? -1 : number(mesh_.at(place));
  }
  [[nodiscard]] constexpr cell_text pending() const noexcept {
    cell_text words;
    if (pending_.empty()) return words;
    words << to_text(placements_[pending_[0]].op) << ": ";
    return write_axes(words, mesh_, pending_);
  }

 private:
  // Returns the coordinates of the devices that hold index `x` of dimension `d`, and the number of
  // indices that follow without a gap.
  [[nodiscard]] constexpr index_t run(int d, index_t x, coordinates& where) const noexcept {
    where.resize(mesh_.axes.size());
    index_t size = extents_[d];
    index_t length = size - x;
    for (int a = 0; a < placements_.ssize(); ++a) {
      if (!placements_[a].splits(d)) continue;
      const grained_split split{grain::strided(placements_[a].factor), size, mesh_.size(a)};
      const grained_split::place found = split.find(x);
      const index_t left = split.run(found.position, found.local);
      if (left < length) length = left;
      where[a] = found.position;
      x = found.local;
      size = split.count(found.position);
    }
    return length;
  }
  [[nodiscard]] constexpr coordinates owner(const part_numbers& at) const noexcept {
    coordinates where;
    where.resize(mesh_.axes.size());
    for (int d = 0; d < rank(); ++d) (void)run(d, at[d], where);
    return where;
  }
  // Axes that split come first, dimension by dimension, so that blocks are numbered in order.
  [[nodiscard]] constexpr index_t number(const coordinates& where) const noexcept {
    index_t n = 0;
    for (int d = 0; d < rank(); ++d)
      for (int a = 0; a < placements_.ssize(); ++a)
        if (placements_[a].splits(d)) n = n * mesh_.size(a) + where[a];
    return n;
  }

  mesh_desc mesh_;
  dtensor_placements placements_;
  extents_desc extents_;
  const index_t* names_;
  bool sized_;
  axis_list free_{};
  axis_list pending_{};
};
static_assert(TileSource<placement_tiles>);

}  // namespace shardwise::detail
