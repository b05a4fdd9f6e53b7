// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/svg_grid.hpp"
#include "shardwise/plan/explain.hpp"

#include <vector>

namespace shardwise {

namespace detail {

/// Returns a tensor in which every axis of a mesh splits a separate dimension: the mesh itself as a
/// grid.
[[nodiscard]] constexpr tensor_desc mesh_as_tensor(const mesh_desc& mesh) noexcept {
  layout_desc layout;
  for (std::uint8_t a = 0; a < mesh.rank(); ++a) layout.dims.push_back(axis_list{a});
  return parts_only(mesh, layout);
}

/// Returns the devices whose part of a tensor is empty, in ranges, or nothing if there are none.
/// `is_empty` tests a position, `device_at` returns its device.
template <class F, class Name>
[[nodiscard]] bounded_text<200> empty_devices(index_t count, const F& is_empty,
                                              const Name& device_at) {
  if (count > 1 << 20) return bounded_text<200>("perhaps some of so many devices");
  std::vector<bool> empty(static_cast<std::size_t>(count));
  for (index_t place = 0; place < count; ++place)
    empty[static_cast<std::size_t>(device_at(place))] = is_empty(place);
  bounded_text<200> words;
  int runs = 0;
  index_t begin = -1;
  for (index_t d = 0; d <= count; ++d) {
    const bool in = d < count && empty[static_cast<std::size_t>(d)];
    if (in && begin < 0) begin = d;
    if (in || begin < 0) continue;
    if (runs < 8) {
      words << (runs > 0 ? text_view(", ") : text_view("")) << begin;
      if (d - begin > 1) words << '-' << d - 1;
    } else if (runs == 8) {
      words << ", ..";
    }
    ++runs;
    begin = -1;
  }
  return words;
}

/// The same for a tensor on a mesh. `names` lists the device at each position of the mesh.
[[nodiscard]] inline bounded_text<200> empty_devices(const mesh_desc& mesh,
                                                     const tensor_desc& tensor,
                                                     const index_t* names) {
  bool even = true;
  for (int d = 0; d < tensor.rank(); ++d)
    even =
        even && tensor.extents[d] > 0 && tensor.extents[d] % mesh.parts(tensor.layout.dims[d]) == 0;
  if (even) return {};
  return empty_devices(
      mesh.devices(),
      [&](index_t place) {
        return volume_of(shard_box(mesh, tensor.layout, tensor.extents, place)) == 0;
      },
      [&](index_t place) { return names == nullptr ? place : names[place]; });
}

/// Returns the second line of a picture: the mesh and its number of devices.
[[nodiscard]] inline message_text mesh_line(const mesh_desc& mesh) {
  message_text words;
  words << mesh << ", " << mesh.devices() << (mesh.devices() == 1 ? " device" : " devices");
  return words;
}

/// Returns a picture of one sentence, for subjects that cannot be drawn.
[[nodiscard]] inline std::string svg_of_words(text_view title, text_view words) {
  svg_document out;
  out.put_text(svg_document::margin, 28, title, "t ink");
  out.put_text(svg_document::margin, 50, words);
  return out.finish(title);
}

/// Draws the meaning of stripes at the point (x, y).
inline void draw_partial_legend(svg_document& out, index_t x, index_t y, text_view pending) {
  out.put_block(x, y, 24, 16, 0, true);
  bounded_text<200> words;
  words << "partial " << pending << "; each device holds one term of the value";
  out.put_text(x + 34, y + 12, words, "s ink");
}

/// Draws the meaning of the marks of a picture, from the point (x, y) down.
inline void draw_legend(svg_document& out, index_t x, index_t y, text_view pending,
                        text_view empty) {
  out.put_block(x, y, 24, 16, 0, false);
  out.put_text(x + 34, y + 12,
               "a block of the tensor, and the devices that hold it: replicas share its colour",
               "s ink");
  if (!pending.empty()) draw_partial_legend(out, x, y += 22, pending);
  if (empty.empty()) return;
  y += 22;
  out.put_box(x + 1, y + 1, 22, 14, "hole");
  bounded_text<300> words;
  words << "no elements: " << empty;
  out.put_text(x + 34, y + 12, words, "s ink");
}

/// The texts above the parts of a picture.
struct picture_words {
  text_view title{};
  text_view second{};
  text_view blocks{};
  text_view devices{};
};

/// Draws blocks from the line `top` down, the devices beside or below them in the colours of their
/// blocks, and the legend. `all` may be null if the devices are unknown.
template <TileSource Tiles, TileSource Devices>
void draw_blocks(svg_document& out, index_t top, const Tiles& tiles, const Devices* all,
                 const picture_words& words, text_view empty) {
  const index_t x = svg_document::margin;
  const index_t y = top + 88;
  out.put_text(x, top + 28, words.title, "t ink");
  out.put_text(x, top + 48, words.second, "dim");
  const svg_grid blocks(tiles, tiles);
  out.put_text(x, y - 10, words.blocks, "s dim");
  blocks.draw(out, x, y);
  if (all != nullptr) {
    const svg_grid<Devices, Tiles> devices(
        *all, tiles, {.columns = 8, .rows = 8, .pages = 3, .widest = 900, .narrowest = 60});
    const index_t caption = text_width(words.blocks.size(), 11);
    const index_t across = blocks.width() > caption ? blocks.width() : caption;
    const bool beside = across + devices.width() <= 1000;
    const index_t devices_x = beside ? x + across + 48 : x;
    const index_t devices_y = beside ? y : y + blocks.height() + 46;
    out.put_text(devices_x, devices_y - 10, words.devices, "s dim");
    devices.draw(out, devices_x, devices_y);
  }
  draw_legend(out, x, out.height() + 24, tiles.pending(), empty);
}

/// Draws a tensor (`sized`) or a layout: its blocks to scale, and the mesh with each device in the
/// colour of its block. `names` lists the device at each position of the mesh.
inline void draw_tensor(svg_document& out, index_t top, const mesh_desc& mesh,
                        const tensor_desc& tensor, bool sized, text_view title, text_view second,
                        const index_t* names = nullptr) {
  const layout_tiles all(mesh, mesh_as_tensor(mesh), false, names);
  draw_blocks(out, top, layout_tiles(mesh, tensor, sized, names), &all,
              {.title = title,
               .second = second,
               .blocks = sized ? text_view("the tensor: who holds each block")
                               : text_view("the layout: who holds each block"),
               .devices = "the mesh: each device in the colour of its block"},
              empty_devices(mesh, tensor, names));
}

/// Returns the same picture as a file.
[[nodiscard]] inline std::string svg_of(const mesh_desc& mesh, const tensor_desc& tensor,
                                        bool sized, text_view title) {
  message_text second = mesh_line(mesh);
  if (sized) {
    write_bytes(second << ", ", bytes_per_device(mesh, tensor));
    second << " per device";
  }
  svg_document out;
  draw_tensor(out, 0, mesh, tensor, sized, title, second);
  return out.finish(title);
}

}  // namespace detail

/// Returns a picture of which device holds which part of a tensor, as the text of a self-contained
/// SVG file: light or dark as its viewer prefers, and the same bytes on every machine.
///
/// The left side shows the blocks of the tensor to scale, each with its devices; the right side
/// shows the mesh, with each device in the colour and hatching of its block. Blocks of a pending
/// reduction are striped.
[[nodiscard]] inline std::string to_svg(const mesh_desc& mesh, const tensor_desc& tensor) {
  const message_text title = to_text(mesh, tensor);
  if (!internal::is_known(mesh, tensor.extents))
    return detail::svg_of_words(title, "sizes are not known yet");
  if (element_count(tensor.extents) == 0) return detail::svg_of_words(title, "no elements");
  return detail::svg_of(mesh, tensor, true, title);
}

/// Returns the picture of a layout without a tensor.
[[nodiscard]] inline std::string to_svg(const mesh_desc& mesh, const layout_desc& layout) {
  message_text title;
  write_layout(title, mesh, layout);
  if (mesh.devices() == dyn) return detail::svg_of_words(title, "sizes are not known yet");
  return detail::svg_of(mesh, detail::parts_only(mesh, layout), false, title);
}

}  // namespace shardwise
