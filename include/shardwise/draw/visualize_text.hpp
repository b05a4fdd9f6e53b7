// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/svg_tensor.hpp"
#include "shardwise/draw/text_picture.hpp"

#include <ostream>

namespace shardwise {
namespace detail {

/// Returns room for the devices of a text: for a few lists as long as the text, and for orders that
/// have to be expanded.
[[nodiscard]] inline std::vector<index_t> room_for(text_view words) {
  return std::vector<index_t>(words.size() * 4 + 65536);
}

/// The devices 0, 1, 2, ... in rows of equal length, for tiles without a mesh.
class device_rows {
 public:
  explicit device_rows(index_t devices) noexcept : rows_(1), columns_(devices) {
    for (index_t columns = 4; columns <= 8 && devices > 8; ++columns)
      if (devices % columns == 0) columns_ = columns;
    if (devices > 0) rows_ = devices / columns_;
  }

  [[nodiscard]] int rank() const noexcept { return 2; }
  [[nodiscard]] bool is_sized() const noexcept { return false; }
  [[nodiscard]] index_t extent(int d) const noexcept { return d == 0 ? rows_ : columns_; }
  [[nodiscard]] shown_parts parts(int d, index_t limit) const noexcept {
    return number_parts(extent(d), limit, [](index_t i) { return shown_part{i, {i, i + 1}}; });
  }
  [[nodiscard]] shown_part part(int d, index_t wanted, index_t& count) const noexcept {
    count = extent(d);
    return {wanted, {wanted, wanted + 1}};
  }
  [[nodiscard]] cell_text label(int d, const shown_part& part) const noexcept {
    cell_text words;
    if (part.is_gap()) return words << "...";
    if (d == 1) return rows_ > 1 ? words << '+' << part.number : words;
    const index_t first = part.number * columns_;
    return columns_ == 1 || rows_ == 1 ? words : words << first << '-' << first + columns_ - 1;
  }
  [[nodiscard]] holders who(const part_numbers& at) const noexcept {
    const device_set one(block(at));
    return {one, one};
  }
  [[nodiscard]] index_t block(const part_numbers& at) const noexcept {
    return at[0] * columns_ + at[1];
  }
  [[nodiscard]] index_t block_of(const holders& who) const noexcept { return who.replicas[0]; }
  [[nodiscard]] cell_text pending() const noexcept { return {}; }

 private:
  index_t rows_;
  index_t columns_;
};

inline void draw_tiles(svg_document& out, index_t top, const hlo_tiles& tiles, text_view title,
                       text_view second) {
  const device_rows all(tiles.devices());
  draw_blocks(out, top, tiles, tiles.devices() > 0 ? &all : nullptr,
              {.title = title,
               .second = second,
               .blocks = "the tiles: who holds each",
               .devices = "the devices: each in the colour of its tile"},
              !tiles.has_empty()
                  ? bounded_text<200>()
                  : empty_devices(
                        tiles.devices(), [&](index_t i) { return tiles.is_empty(i); },
                        [&](index_t i) { return tiles.device(i); }));
  if (!tiles.is_manual()) return;
  const index_t y = out.height() + 6;
  out.put_text(svg_document::margin + 34, y + 12,
               "0/1: the devices of a tile run code of their own on it (manual)", "s ink");
}

inline void draw_placed(svg_document& out, index_t top, const sharding_picture& shown,
                        text_view title, text_view second) {
  const mesh_desc& mesh = shown.on.mesh;
  const index_t* const names = shown.on.devices.data();
  const placement_tiles tiles(mesh, shown.placements, shown.tensor.extents, shown.is_sized, names);
  const layout_tiles all(mesh, mesh_as_tensor(mesh), false, names);
  draw_blocks(out, top, tiles, &all,
              {.title = title,
               .second = second,
               .blocks = "the pieces: who holds each",
               .devices = "the mesh: each device in the colour of its pieces"},
              empty_devices(
                  mesh.devices(), [&](index_t place) { return tiles.is_empty(place); },
                  [&](index_t place) { return names == nullptr ? place : names[place]; }));
}

/// Draws the picture of one text, from the line `top` down.
inline void draw_shown(svg_document& out, index_t top, text_view words,
                       const sharding_picture& shown) {
  bounded_text<120> title;
  write_words(title, words, 110);
  message_text second = second_line(shown);
  const extents_desc& extents = shown.tensor.extents;
  text_view nothing{};
  if (shown.is_sized && extents.contains(dyn))
    nothing = "sizes are not known yet";
  else if (shown.is_sized && element_count(extents) == 0)
    nothing = "no elements";
  if (!nothing.empty()) {
    out.put_text(svg_document::margin, top + 28, title, "t ink");
    out.put_text(svg_document::margin, top + 48, second, "dim");
    out.put_text(svg_document::margin, top + 70, nothing);
  } else if (shown.form == sharding_picture::as_placements) {
    draw_placed(out, top, shown, title, second);
  } else if (shown.form == sharding_picture::as_layout) {
    const mesh_desc& mesh = shown.on.mesh;
    if (shown.is_typed) {
      write_bytes(second << ", ", bytes_per_device(mesh, shown.tensor));
      second << " per device";
    }
    draw_tensor(out, top, mesh,
                shown.is_sized ? shown.tensor : parts_only(mesh, shown.tensor.layout),
                shown.is_sized, title, second, shown.on.devices.data());
  } else if (shown.is_sized) {
    draw_tiles(out, top, {shown.tiles, shown.devices, extents}, title, second);
  } else {
    draw_tiles(out, top, {shown.tiles, shown.devices}, title, second);
  }
}

}  // namespace detail

/// Draws the sharding that a text describes, in any notation, on a stream; see `write_picture`. An
/// invalid text is drawn with the reason, and the verdict contains the same.
///
///     visualize(std::cout, "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
///     visualize(std::cout, "P('data', None)", {pod::value, {8, 16}}, {.colour = true});
inline parse_verdict visualize(std::ostream& out, text_view words,
                               const sharding_context& about = {},
                               const picture_style& style = {}) {
  std::vector<index_t> memory = detail::room_for(words);
  device_buffer buffer(memory.data(), static_cast<index_t>(memory.size()));
  return write_picture(out, words, about, buffer, style);
}

/// Returns the same picture as the text of an SVG file; the elements of a tuple are below each
/// other.
///
///     std::ofstream("tiles.svg") << to_svg("{devices=[2,2]0,2,1,3}", extents_desc{8, 8});
[[nodiscard]] inline std::string to_svg(text_view words, const sharding_context& about = {}) {
  std::vector<index_t> memory = detail::room_for(words);
  device_buffer buffer(memory.data(), static_cast<index_t>(memory.size()));
  detail::svg_document out;
  bounded_text<120> title;
  detail::write_words(title, words, 110);
  index_t top = 0;
  const parse_verdict verdict =
      for_each_picture(words, about, buffer, [&](text_view one, const sharding_picture& shown) {
        detail::draw_shown(out, top, one, shown);
        top = out.height() + 10;
      });
  if (verdict.ok()) return out.finish(title);
  bounded_text<200> reason;
  reason << verdict.position << ": " << verdict.reason;
  return detail::svg_of_words(title, reason);
}

}  // namespace shardwise
