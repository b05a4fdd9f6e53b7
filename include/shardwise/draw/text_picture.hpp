// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/ascii.hpp"
#include "shardwise/draw/sharding_picture.hpp"

namespace shardwise {

namespace detail {

/// Writes the text of a sharding as one line of at most `width` characters; the middle of a longer
/// text is omitted.
template <class Out>
constexpr void write_words(Out& out, text_view words, std::size_t width) {
  const auto write = [&out](text_view part) {
    for (std::size_t i = 0; i < part.size(); ++i)
      out << (static_cast<unsigned char>(part[i]) < 32 ? text_view(" ") : part.substr(i, 1));
  };
  const std::size_t most = width < 20 ? 20 : width;
  if (words.size() <= most) return write(words);
  write(words.substr(0, most / 2 - 2));
  out << text_view(" .. ");
  const std::size_t rest = most - most / 2 - 2;
  write(words.substr(words.size() - rest, rest));
}

/// Returns the line below the text: the tensor or the layout and its mesh, or the number of
/// devices.
[[nodiscard]] constexpr message_text second_line(const sharding_picture& shown) noexcept {
  message_text line;
  if (shown.form == sharding_picture::as_layout) {
    if (!shown.is_sized) {
      write_layout(line, shown.on.mesh, shown.tensor.layout);
    } else {
      const message_text tensor = to_text(shown.on.mesh, shown.tensor);
      const std::size_t begin = shown.is_typed ? 0 : to_text(shown.tensor.type).size();
      line << text_view(tensor).substr(begin, tensor.size());
    }
    return line << " on " << shown.on.mesh;
  }
  if (shown.is_sized) line << '[';
  for (int d = 0; shown.is_sized && d < shown.tensor.rank(); ++d) {
    if (d > 0) line << ", ";
    if (shown.tensor.extents[d] == dyn)
      line << '?';
    else
      line << shown.tensor.extents[d];
  }
  if (shown.is_sized) line << ']';
  if (shown.form == sharding_picture::as_placements)
    return line << (shown.is_sized ? text_view(" on ") : text_view("")) << shown.on.mesh;
  const index_t devices = hlo_tiles(shown.tiles, shown.devices).devices();
  if (devices > 0)
    line << (line.empty() ? text_view("") : text_view(" on ")) << devices
         << (devices == 1 ? text_view(" device") : text_view(" devices"));
  return line;
}

/// Writes the error of a parser: the line, a mark under the position, and the reason. Of a long
/// line only the part around the position is written.
template <class Out>
constexpr void write_failure(Out& out, text_view words, const parse_verdict& verdict,
                             std::size_t width) {
  const std::size_t most = width < 20 ? 20 : width;
  const std::size_t before = verdict.position < most ? 0 : verdict.position - most / 2;
  bounded_text<24> place;
  place << verdict.position << ": ";
  write_words(out, words.substr(before, most), most);
  out << text_view("\n");
  for (std::size_t i = before; i < verdict.position; ++i) out << text_view(" ");
  out << text_view("^\n") << text_view(place) << verdict.reason << text_view("\n");
}

/// Draws the blocks that a text describes.
template <class Out>
constexpr void write_shown(Out& out, const sharding_picture& shown, const picture_style& style) {
  const index_t* const names = shown.on.devices.data();
  const extents_desc& extents = shown.tensor.extents;
  const bool sized = shown.is_sized;
  if (shown.form == sharding_picture::as_layout && !sized)
    write_pages(out, layout_tiles(shown.on.mesh, shown.tensor.layout, names), style);
  else if (shown.form == sharding_picture::as_layout)
    write_blocks(out, shown.on.mesh, shown.tensor, style, names);
  else if (sized && extents.contains(dyn))
    out << text_view("(sizes are not known yet)\n");
  else if (sized && element_count(extents) == 0)
    out << text_view("(no elements)\n");
  else if (shown.form == sharding_picture::as_placements)
    write_pages(out, placement_tiles(shown.on.mesh, shown.placements, extents, sized, names),
                style);
  else if (sized)
    write_pages(out, hlo_tiles(shown.tiles, shown.devices, extents), style);
  else
    write_pages(out, hlo_tiles(shown.tiles, shown.devices), style);
}

}  // namespace detail

/// Draws the sharding that a text describes, in any notation: the text, then the same table as for
/// a layout, with the devices of the text. `0 4` are replicas, `0+1` hold terms of a sum, and `0/1`
/// run separate code on the same tile. Without extents there is a cell for each tile. A tuple has a
/// table for each of its elements.
///
/// An invalid text is drawn with a mark under the position of the error, and the reason; the
/// verdict contains the same.
///
///     bounded_text<1000> out;
///     tile_list<64> devices;
///     write_picture(out, "{devices=[2,2]0,2,1,3}", extents_desc{8, 8}, devices.buffer);
template <class Out>
constexpr parse_verdict write_picture(Out& out, text_view words, const sharding_context& about,
                                      device_buffer& buffer, const picture_style& style = {}) {
  const parse_verdict verdict =
      for_each_picture(words, about, buffer, [](text_view, const sharding_picture&) {});
  if (!verdict.ok()) {
    detail::write_failure(out, words, verdict, style.width);
    return verdict;
  }
  return for_each_picture(words, about, buffer, [&](text_view one, const sharding_picture& shown) {
    detail::write_words(out, one, style.width);
    out << text_view("\n");
    const message_text line = detail::second_line(shown);
    if (!line.empty()) out << text_view(line) << text_view("\n");
    detail::write_shown(out, shown, style);
  });
}

/// Returns the picture of a text as a constant.
///
///     static_assert(picture_of("{devices=[2]<=[2]}") == ...);
template <std::size_t Capacity = 4000>
[[nodiscard]] constexpr bounded_text<Capacity> picture_of(text_view words,
                                                          const sharding_context& about = {},
                                                          const picture_style& style = {}) {
  bounded_text<Capacity> out;
  tile_list<512> devices;
  write_picture(out, words, about, devices.buffer, style);
  return out;
}

}  // namespace shardwise
