// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/holders.hpp"

namespace shardwise::detail {

/// The source of a picture: the blocks along each dimension, their labels, the devices that hold
/// them, and their numbers, which determine their colours.
template <class T>
concept TileSource = requires(const T& tiles, int d, index_t i, index_t& count,
                              const shown_part& part, const part_numbers& at, const holders& who) {
  { tiles.rank() } -> std::convertible_to<int>;
  { tiles.is_sized() } -> std::convertible_to<bool>;               // labels are ranges of indices
  { tiles.extent(d) } -> std::convertible_to<index_t>;             // 1 for each part if not sized
  { tiles.parts(d, i) } -> std::convertible_to<shown_parts>;       // at most i of them
  { tiles.part(d, i, count) } -> std::convertible_to<shown_part>;  // the i-th of `count`
  { tiles.label(d, part) } -> std::convertible_to<cell_text>;
  { tiles.who(at) } -> std::convertible_to<holders>;
  { tiles.block(at) } -> std::convertible_to<index_t>;
  { tiles.block_of(who) } -> std::convertible_to<index_t>;  // of the first device; -1: none
  { tiles.pending() } -> std::convertible_to<cell_text>;    // the kind of the reduction, or nothing
};

/// Returns `count` parts by number, at most `limit` of them (at least 3): if there are more, all
/// but the last two entries are filled in order, followed by a gap and the last part.
template <class Part>
[[nodiscard]] constexpr shown_parts number_parts(index_t count, index_t limit, const Part& at) {
  shown_parts shown;
  const index_t most = count <= limit ? count : limit - 2;
  for (index_t p = 0; p < most; ++p) shown.push_back(at(p));
  if (most < count) shown.push_back({});
  if (most < count) shown.push_back(at(count - 1));
  return shown;
}

/// The blocks of a tensor on a mesh.
class layout_tiles {
 public:
  /// `sized` states that the extents are those of a tensor, not one element for each part. `names`
  /// lists the device at each position, if it differs from the mesh. All members use positions.
  constexpr layout_tiles(const mesh_desc& mesh, const tensor_desc& tensor, bool sized,
                         const index_t* names = nullptr) noexcept
      : mesh_{mesh.axes},
        tensor_(tensor),
        names_(names == nullptr ? mesh.order.devices().data() : names),
        sized_(sized) {}
  /// Creates the blocks of a layout without a tensor.
  constexpr layout_tiles(const mesh_desc& mesh, const layout_desc& layout,
                         const index_t* names = nullptr) noexcept
      : layout_tiles(mesh, parts_only(mesh, layout), false, names) {}

  [[nodiscard]] constexpr int rank() const noexcept { return tensor_.rank(); }
  [[nodiscard]] constexpr bool is_sized() const noexcept { return sized_; }
  [[nodiscard]] constexpr index_t extent(int d) const noexcept { return tensor_.extents[d]; }
  [[nodiscard]] constexpr shown_parts parts(int d, index_t limit) const noexcept {
    return show_parts(mesh_, picture_dim_of(mesh_, tensor_, d), limit);
  }
  [[nodiscard]] constexpr shown_part part(int d, index_t wanted, index_t& count) const noexcept {
    return find_part(mesh_, picture_dim_of(mesh_, tensor_, d), wanted, count);
  }
  [[nodiscard]] constexpr cell_text label(int d, const shown_part& part) const noexcept {
    cell_text words;
    if (part.is_gap()) return words << "...";
    if (sized_) return words << part.range;
    return write_place(words, mesh_, tensor_.layout.dims[d], part.number);
  }
  [[nodiscard]] constexpr holders who(const part_numbers& at) const noexcept {
    return holders_of(mesh_, tensor_.layout, at, names_);
  }
  [[nodiscard]] constexpr index_t block(const part_numbers& at) const noexcept {
    index_t number = 0;
    for (int d = 0; d < rank(); ++d) number = number * mesh_.parts(tensor_.layout.dims[d]) + at[d];
    return number;
  }
  [[nodiscard]] constexpr index_t block_of(const holders& who) const noexcept {
    const index_t place = who.replicas.place(0);
    if (volume_of(shard_box(mesh_, tensor_.layout, tensor_.extents, place)) == 0) return -1;
    const coordinates where = mesh_.at(place);
    index_t number = 0;
    for (const axis_list& axes : tensor_.layout.dims)
      for (std::uint8_t a : axes) number = number * mesh_.size(a) + where[a];
    return number;
  }
  /// Returns the axes of pending reductions and their kind: `sum: model`.
  [[nodiscard]] constexpr cell_text pending() const noexcept {
    cell_text words;
    if (tensor_.layout.pending == 0) return words;
    words << to_text(tensor_.layout.kind) << ": ";
    return write_axes(words, mesh_, tensor_.layout.pending_axes());
  }

 private:
  mesh_desc mesh_;
  tensor_desc tensor_;
  const index_t* names_;
  bool sized_;
};
static_assert(TileSource<layout_tiles>);

/// Returns the text in front of the parts of a page: `[0:2, 0:4, .., ..]`, or nothing if there are
/// at most two dimensions.
template <class Tiles>
[[nodiscard]] constexpr bounded_text<400> page_title(const Tiles& tiles, const picture_page& page) {
  bounded_text<400> title;
  for (int d = 0; d < page.outer.ssize(); ++d)
    title << (d > 0 ? text_view(", ") : text_view("[")) << text_view(tiles.label(d, page.outer[d]));
  if (!title.empty()) title << ", .., ..]";
  return title;
}

/// Returns the part numbers of one cell of a page.
template <class Tiles>
[[nodiscard]] constexpr part_numbers numbers_at(const Tiles& tiles, const picture_page& page,
                                                const shown_part& row,
                                                const shown_part& column) noexcept {
  part_numbers all;
  for (const shown_part& part : page.outer) all.push_back(part.number);
  if (tiles.rank() >= 2) all.push_back(row.number);
  if (tiles.rank() >= 1) all.push_back(column.number);
  return all;
}

}  // namespace shardwise::detail
