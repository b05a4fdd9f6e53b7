// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/layout_tiles.hpp"
#include "shardwise/notation/op_sharding.hpp"

namespace shardwise::detail {

/// Converts a sharding to a form whose devices can be listed tile by tile: a list of devices that
/// follows an order becomes that order, and an order that cuts across the groups of a tile becomes
/// a list, for which the buffer has room.
[[nodiscard]] constexpr hlo_result for_picture(const hlo_sharding& given,
                                               device_buffer& buffer) noexcept {
  const hlo_sharding ordered = to_iota(given);
  if (ordered.kind != hlo_kind::tiled || ordered.tiles.is_list() || ordered.group_size() == 1 ||
      !cut_digits(digits_of(ordered.tiles.order), ordered.tiles.dims).empty())
    return {ordered, {}};
  return to_list(ordered, buffer);
}

/// The tiles of an HLO sharding, which must be a result of `for_picture` and have a rank of at most
/// `max_rank`.
///
/// Extents have a single cut, as in HLO; without extents every dimension has one element for each
/// tile. `devices` is their number, for shardings that do not state it; 0 if it is unknown.
class hlo_tiles {
 public:
  constexpr hlo_tiles(const hlo_sharding& sharding, index_t devices) noexcept
      : tiles_(sharding.tiles), groups_(sharding.groups), rank_(sharding.rank()) {
    spread(sharding, devices);
    for (int d = 0; d < rank_; ++d) extents_.push_back(tiles_.dims[d]);
  }
  constexpr hlo_tiles(const hlo_sharding& sharding, index_t devices,
                      const extents_desc& extents) noexcept
      : tiles_(sharding.tiles),
        groups_(sharding.groups),
        extents_(extents),
        rank_(extents.ssize()),
        sized_(true) {
    spread(sharding, devices);
  }

  /// Returns the number of devices, or 0 if it is unknown.
  [[nodiscard]] constexpr index_t devices() const noexcept { return devices_; }
  /// Returns true if the devices of a tile run separate code on it.
  [[nodiscard]] constexpr bool is_manual() const noexcept {
    return groups_.contains(hlo_group::manual);
  }
  /// Returns true if some tile has no elements.
  [[nodiscard]] constexpr bool has_empty() const noexcept {
    for (int d = 0; d < rank_; ++d)
      if (filled(d) < tiles_.dims[d]) return true;
    return false;
  }
  /// Returns true if the tile at a position of the assignment has no elements.
  [[nodiscard]] constexpr bool is_empty(index_t position) const noexcept {
    index_t tile = position / group_size_;
    for (int d = rank_ - 1; d >= 0; --d) {
      if (tile % tiles_.dims[d] >= filled(d)) return true;
      tile /= tiles_.dims[d];
    }
    return false;
  }
  [[nodiscard]] constexpr index_t device(index_t position) const noexcept {
    return alone_ >= 0 ? alone_ : tiles_.at(position);
  }

  [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
  [[nodiscard]] constexpr bool is_sized() const noexcept { return sized_; }
  [[nodiscard]] constexpr index_t extent(int d) const noexcept { return extents_[d]; }
  [[nodiscard]] constexpr shown_parts parts(int d, index_t limit) const noexcept {
    return number_parts(filled(d), limit, [&](index_t part) { return at(d, part); });
  }
  [[nodiscard]] constexpr shown_part part(int d, index_t wanted, index_t& count) const noexcept {
    count = filled(d);
    return count == 0 ? shown_part{} : at(d, wanted < count ? wanted : count - 1);
  }
  [[nodiscard]] constexpr cell_text label(int d, const shown_part& part) const noexcept {
    cell_text words;
    if (part.is_gap()) return words << "...";
    if (sized_) return words << part.range;
    return tiles_.dims[d] == 1 ? words << '-' : words << part.number;
  }
  [[nodiscard]] constexpr holders who(const part_numbers& numbers) const noexcept {
    const index_t first = block(numbers) * group_size_;
    const index_t* const list = tiles_.is_list() ? tiles_.list.data() : nullptr;
    const device_set one(list != nullptr ? first : device(first), list);
    holders all{one, one, 1, words_};
    for (hlo_group kind : {hlo_group::manual, hlo_group::unreduced, hlo_group::replicated})
      for (int g = 0; g < groups_.ssize(); ++g) {
        if (groups_[g] != kind) continue;
        device_set& set = kind == hlo_group::replicated ? all.replicas : all.terms;
        add_levels(set, rank_ + g);
        if (kind == hlo_group::unreduced) all.sum *= tiles_.dims[rank_ + g];
      }
    return all;
  }
  [[nodiscard]] constexpr index_t block(const part_numbers& numbers) const noexcept {
    index_t number = 0;
    for (int d = 0; d < rank_; ++d) number = number * tiles_.dims[d] + numbers[d];
    return number;
  }
  [[nodiscard]] constexpr index_t block_of(const holders& all) const noexcept {
    if (!words_.empty()) return 0;
    const index_t first = all.replicas[0];
    if (alone_ >= 0) return first == alone_ && !is_empty(0) ? 0 : -1;
    const index_t position = tiles_.find(first);
    return position < 0 || is_empty(position) ? -1 : position / group_size_;
  }
  [[nodiscard]] constexpr cell_text pending() const noexcept {
    return groups_.contains(hlo_group::unreduced) ? cell_text("sum") : cell_text();
  }

 private:
  // A tensor that is not split has one tile: on all devices, on one, or on unknown ones.
  constexpr void spread(const hlo_sharding& sharding, index_t devices) noexcept {
    devices_ = sharding.kind == hlo_kind::tiled ? tiles_.count() : devices;
    group_size_ = sharding.kind == hlo_kind::tiled ? sharding.group_size() : 1;
    if (sharding.kind == hlo_kind::tiled) return;
    tiles_ = {};
    for (int d = 0; d < rank_; ++d) tiles_.dims.push_back(1);
    tiles_.order = plain_order(1);
    if (sharding.kind == hlo_kind::maximal) {
      alone_ = sharding.device;
      return;
    }
    constexpr text_view words[] = {"every device", "", "", "manual", "unknown", "a term each"};
    constexpr hlo_group kinds[] = {hlo_group::replicated, {}, {},
                                   hlo_group::manual,     {}, hlo_group::unreduced};
    const auto kind = static_cast<unsigned>(sharding.kind);
    if (sharding.kind != hlo_kind::unknown) groups_.push_back(kinds[kind]);
    group_size_ = sharding.kind == hlo_kind::unknown || devices < 1 ? 1 : devices;
    if (group_size_ == 1 && devices != 1) words_ = words[kind];
    if (sharding.kind != hlo_kind::unknown) tiles_.dims.push_back(group_size_);
    tiles_.order = plain_order(group_size_);
  }
  [[nodiscard]] constexpr index_t filled(int d) const noexcept {
    const index_t piece = tile_range(0, tiles_.dims[d], extents_[d]).size();
    return piece == 0 ? 0 : ceil_div(extents_[d], piece);
  }
  [[nodiscard]] constexpr shown_part at(int d, index_t part) const noexcept {
    return {part, tile_range(part, tiles_.dims[d], extents_[d])};
  }
  // Adds the devices of one tile that differ along a dimension of the assignment.
  constexpr void add_levels(device_set& set, int dim) const noexcept {
    if (tiles_.is_list()) {
      index_t distance = 1;
      for (int below = dim + 1; below < tiles_.dims.ssize(); ++below)
        distance *= tiles_.dims[below];
      set.add_level(tiles_.dims[dim], distance);
      return;
    }
    for (const tile_digit& digit : cut_digits(digits_of(tiles_.order), tiles_.dims))
      if (digit.dim == dim) set.add_level(digit.size, digit.stride);
  }

  tile_assignment tiles_;
  inplace_vector<hlo_group, max_tile_dims> groups_;
  extents_desc extents_{};
  int rank_;
  bool sized_ = false;
  index_t devices_ = 0;
  index_t group_size_ = 1;
  index_t alone_ = -1;  // the device of a maximal sharding
  text_view words_{};
};
static_assert(TileSource<hlo_tiles>);

}  // namespace shardwise::detail
