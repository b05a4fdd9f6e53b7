// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/extents.hpp"
#include "shardwise/layout/tensor_desc.hpp"

namespace shardwise::detail {

/// The maximum number of parts of one dimension that a picture shows.
inline constexpr std::size_t most_parts = 64;

/// A part of a dimension in a picture: its number among all positions and its range, or a gap.
struct shown_part {
  index_t number = -1;
  index_range range{};

  [[nodiscard]] constexpr bool is_gap() const noexcept { return number < 0; }
};
using shown_parts = inplace_vector<shown_part, most_parts>;

/// Sets the coordinates of the devices of one part of a dimension along the axes that split it.
constexpr void place_part(const mesh_desc& mesh, const axis_list& axes, index_t part,
                          coordinates& where) noexcept {
  for (int i = axes.ssize() - 1; i >= 0; --i) {
    where[axes[i]] = part % mesh.size(axes[i]);
    part /= mesh.size(axes[i]);
  }
}

/// A dimension of a picture: its size, the axes that split it, and its grain.
struct picture_dim {
  axis_list axes{};
  grain how{};
  index_t size = 0;
};

/// Returns a dimension of a tensor. The grain is irrelevant if there is a single part; for a
/// dimension with a halo only the part without the halo is shown.
[[nodiscard]] constexpr picture_dim picture_dim_of(const mesh_desc& mesh, const tensor_desc& tensor,
                                                   int d) noexcept {
  const axis_list& axes = tensor.layout.dims[d];
  return {axes, mesh.parts(axes) == 1 ? grain{} : tensor.layout.grains[d].without_halo(),
          tensor.extents[d]};
}

/// Returns one contiguous part; empty for trailing parts without elements.
[[nodiscard]] constexpr index_range part_range(const mesh_desc& mesh, const picture_dim& dim,
                                               index_t part) noexcept {
  return range_at(mesh, dim.axes, dim.size, part);
}

/// Returns a block of a cyclically distributed dimension, in the order of its indices.
[[nodiscard]] constexpr shown_part piece_part(const grained_split& split, index_t number) noexcept {
  const grained_split::portion piece = split.piece_at(number);
  return {piece.position, piece.range};
}

/// Returns part number `wanted` of the nonempty parts of a dimension, or its last one if there are
/// fewer; stores the number of nonempty parts in `count`.
[[nodiscard]] constexpr shown_part find_part(const mesh_desc& mesh, const picture_dim& dim,
                                             index_t wanted, index_t& count) noexcept {
  const index_t parts = mesh.parts(dim.axes);
  shown_part found;
  count = 0;
  if (!dim.how.is_contiguous()) {
    const grained_split split{dim.how, dim.size, parts};
    count = split.pieces();
    return count == 0 ? found : piece_part(split, wanted < count ? wanted : count - 1);
  }
  if (dim.size % parts == 0) {
    count = dim.size == 0 ? 0 : parts;
    if (count == 0) return found;
    found.number = wanted < count ? wanted : count - 1;
    found.range = part_range(mesh, dim, found.number);
    return found;
  }
  for (index_t p = 0; p < parts; ++p) {
    const index_range range = part_range(mesh, dim, p);
    if (range.empty()) continue;
    if (count++ <= wanted) found = {p, range};
  }
  return found;
}

/// Returns the parts of a dimension from the first on, at most `limit` of them (at least 3): if
/// there are more, all but the last two entries are filled in order, followed by a gap and the last
/// part. A cyclically distributed dimension has one part for each block.
[[nodiscard]] constexpr shown_parts show_parts(const mesh_desc& mesh, const picture_dim& dim,
                                               index_t limit) noexcept {
  shown_parts shown;
  const index_t parts = mesh.parts(dim.axes);
  const auto places = static_cast<index_t>(limit);
  const auto show = [&](const shown_part& part) {
    if (shown.ssize() < places) {
      shown.push_back(part);
      return true;
    }
    shown[places - 2] = {};
    shown[places - 1] = part;
    return false;
  };
  if (!dim.how.is_contiguous()) {
    const grained_split split{dim.how, dim.size, parts};
    for (index_t i = 0; i < split.pieces(); ++i)
      if (!show(piece_part(split, i)) && i + 1 < split.pieces()) i = split.pieces() - 2;
    return shown;
  }
  for (index_t p = 0; p < parts; ++p) {
    const index_range range = part_range(mesh, dim, p);
    if (range.empty() || show({p, range})) continue;
    if (dim.size % parts == 0 && p + 1 < parts) p = parts - 2;  // no part is empty: skip to the end
  }
  return shown;
}

/// The parts of the dimensions before the last two, one combination for each page.
struct picture_page {
  inplace_vector<shown_part, max_rank> outer{};
};

/// The pages of a picture: their number, and the parts that a page shows. `Tiles` has the blocks,
/// see `layout_tiles`; it must outlive the pages.
template <class Tiles>
class picture_pages {
 public:
  explicit constexpr picture_pages(const Tiles& tiles) noexcept : tiles_(tiles) {
    for (int d = 0; d + 2 < tiles.rank(); ++d) {
      index_t parts = 0;
      (void)tiles.part(d, 0, parts);
      counts_.push_back(parts);
      count_ *= parts;
    }
  }
  [[nodiscard]] constexpr index_t count() const noexcept { return count_; }

  /// Returns the parts of page `number`, where the last outer dimension varies fastest.
  [[nodiscard]] constexpr picture_page at(index_t number) const noexcept {
    picture_page shown;
    shown.outer.resize(counts_.size());
    for (int d = counts_.ssize() - 1; d >= 0; --d) {
      index_t parts = 0;
      shown.outer[d] = tiles_.part(d, number % counts_[d], parts);
      number /= counts_[d];
    }
    return shown;
  }

 private:
  const Tiles& tiles_;
  inplace_vector<index_t, max_rank> counts_{};
  index_t count_ = 1;
};

/// Writes the range of a part, `0:4`.
template <std::size_t N>
constexpr bounded_text<N>& operator<<(bounded_text<N>& out, const index_range& range) noexcept {
  return out << range.begin << ':' << range.end;
}

/// Writes the mesh coordinates of a part, `x=0,y=1`, or `-` for a dimension that is not split.
template <std::size_t N>
constexpr bounded_text<N>& write_place(bounded_text<N>& out, const mesh_desc& mesh,
                                       const axis_list& axes, index_t part) noexcept {
  if (axes.empty()) return out << '-';
  coordinates where;
  where.resize(mesh.axes.size());
  place_part(mesh, axes, part, where);
  for (int i = 0; i < axes.ssize(); ++i)
    out << (i > 0 ? text_view(",") : text_view("")) << mesh.axes[axes[i]].label << '='
        << where[axes[i]];
  return out;
}

/// The subject of a picture: a tensor and its mesh.
struct picture_subject {
  mesh_desc mesh{};
  tensor_desc tensor{};
};

/// The subject of the picture of a tensor type.
template <class T, class Extents, class Layout>
[[nodiscard]] constexpr picture_subject picture_subject_of(
    const sharded_tensor<T, Extents, Layout>*) noexcept {
  return {Layout::mesh_type::value, {element_of<T>, Extents::value, Layout::value}};
}

/// Returns a tensor that represents a layout: each dimension has one element for each of its parts,
/// or two rounds of blocks, or one piece of each chunk for each part.
[[nodiscard]] constexpr tensor_desc parts_only(const mesh_desc& mesh,
                                               const layout_desc& layout) noexcept {
  tensor_desc tensor{element::f32, {}, layout};
  for (int d = 0; d < layout.rank(); ++d) {
    const grain how = layout.grains[d];
    tensor.extents.push_back(how.unit(mesh.parts(layout.dims[d])) * (how.is_cyclic() ? 2 : 1));
  }
  return tensor;
}

}  // namespace shardwise::detail
