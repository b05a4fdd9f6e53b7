// SPDX-License-Identifier: BSL-1.0
// Pictures of who holds what: `shardwise draw`.
#pragma once

#include "read_subject.hpp"
#include <shardwise/draw/before_after.hpp>
#include <shardwise/draw/svg_collective.hpp>
#include <shardwise/draw/svg_reshard.hpp>
#include <shardwise/draw/svg_tensor.hpp>
#include <shardwise/draw/visualize_text.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace tool {

/// What `draw` answers: a picture as text, or the file that has the image.
struct drawing {
  std::string picture{};
  std::string file{};
};

namespace detail {

/// A layout on a mesh: what a picture shows.
struct drawable {
  mesh_desc mesh{};
  layout_desc layout{};
};

/// A mesh whose axes d0, d1, ... are the digits of the order that the devices of tiles follow, and
/// the layout that makes these tiles on it.
[[nodiscard]] inline drawable drawable_of_tiles(const hlo_sharding& given,
                                                const std::optional<extents_desc>& shape,
                                                device_buffer& buffer) {
  const hlo_sharding sharding = to_iota(given);
  if (sharding.kind != hlo_kind::tiled || sharding.tiles.is_list())
    throw refusal("sharding_has_no_mesh",
                  "a picture needs a mesh, and the devices of this sharding "
                  "follow the order of none; give --mesh");
  tile_digits digits = cut_digits(digits_of(sharding.tiles.order), sharding.tiles.dims);
  sort_by_stride(digits, 0, digits.ssize());
  if (digits.empty() || digits.ssize() > max_axes)
    throw refusal("sharding_has_no_mesh", "no mesh of at most 7 axes makes these tiles");
  drawable found;
  for (int a = 0; a < digits.ssize(); ++a)
    found.mesh.axes.push_back({short_name("d" + std::to_string(a)), digits[a].size});
  const read_layout read = to_layout(sharding, found.mesh, sharding.rank(), buffer);
  if (!read.verdict.ok()) throw refusal("sharding_has_no_mesh", str(read.verdict.reason));
  found.layout = judged(found.mesh, read.layout, shape, single_cut{});
  return found;
}

/// The mesh of a request with its order of devices, both lists of which somebody else keeps.
[[nodiscard]] inline mesh_desc ordered_mesh_of(const subject& about,
                                               const std::vector<index_t>& places) {
  mesh_desc mesh = *about.mesh;
  mesh.order = device_order(about.devices, places);
  return mesh;
}

[[nodiscard]] inline drawable drawable_of(const subject& about, const std::vector<index_t>& places,
                                          device_buffer& buffer) {
  if (about.mesh && about.layout)
    return {ordered_mesh_of(about, places),
            about.shape ? said_by_axis(*about.mesh, *about.layout, *about.shape) : *about.layout};
  if (!about.hlo) throw refusal("sharding_has_no_mesh", "a picture needs a mesh of whole axes");
  return drawable_of_tiles(*about.hlo, about.shape, buffer);
}

[[nodiscard]] inline bool wants_color(const request& asked, bool on_terminal) {
  const auto& color = asked.get("color");
  if (color && *color == "always") return true;
  if (color && *color == "never") return false;
  if (color && *color != "auto")
    throw refusal("color_is_unknown", in_quotes(*color) + " is none of auto, always and never");
  const char* const refused = std::getenv("NO_COLOR");
  return on_terminal && (refused == nullptr || *refused == '\0');
}

/// Puts a file where it belongs in one step: readers see all of it or what was there before. What
/// is no regular file, such as /dev/stdout, is written to.
inline void write_file(const std::string& path, const std::string& words) {
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(path, unknown);
  const bool stays = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  const std::string beside = stays ? path : path + ".part";
  std::ofstream out(beside, std::ios::binary | std::ios::trunc);
  out << words;
  out.close();
  std::error_code failure;
  if (out && !stays) std::filesystem::rename(beside, path, failure);
  if (out && !failure) return;
  if (!stays) std::remove(beside.c_str());
  throw refusal("file_is_not_writable", "cannot write " + in_quotes(path));
}

/// Writes an image, dark for every reader if that is asked for.
[[nodiscard]] inline drawing write_image(const request& asked, std::string image) {
  const std::string_view preference = "(prefers-color-scheme:dark)";
  const std::size_t place = image.find(preference);
  if (asked.has("dark") && place != image.npos) image.replace(place, preference.size(), "all");
  write_file(asked.need("svg"), image);
  return {{}, asked.need("svg")};
}

/// The image of a collective by its smallest example.
[[nodiscard]] inline drawing draw_collective(const request& asked) {
  for (const option& one : options)
    if (asked.has(one.label) && one.label != "collective" && one.label != "svg" &&
        one.label != "dark" && one.label != "json")
      throw refusal(
          "options_exclude_each_other",
          "--collective is drawn by an example of its own, without --" + std::string(one.label));
  for (const collective kind :
       {collective::slice, collective::all_gather, collective::all_to_all,
        collective::reduce_scatter, collective::all_reduce, collective::collective_permute,
        collective::broadcast, collective::halo_exchange})
    if (view(to_text(kind)) == *asked.get("collective")) return write_image(asked, to_svg(kind));
  throw refusal("collective_is_unknown",
                in_quotes(*asked.get("collective")) +
                    " is none of slice, all_gather, all_to_all, reduce_scatter, all_reduce, "
                    "collective_permute, broadcast and halo_exchange");
}

/// What a picture of text is written to.
struct picture_sink {
  std::string& words;
  picture_sink& operator<<(text_view more) {
    words += view(more);
    return *this;
  }
};

/// How a picture of text is written.
[[nodiscard]] inline picture_style style_of(const request& asked, bool on_terminal) {
  if (asked.has("dark")) throw refusal("option_is_missing", "--dark is said of an --svg");
  picture_style style;
  style.colour = wants_color(asked, on_terminal);
  if (asked.has("width")) {
    const index_t width = read_number(*asked.get("width"), 1'000'000, "width");
    if (width < 1) throw refusal("number_is_malformed", "a line has at least one character");
    style.width = static_cast<std::size_t>(width);
  }
  return style;
}

/// The picture of placements that cut a tensor otherwise than every layout.
[[nodiscard]] inline drawing draw_placements(const request& asked, const subject& about,
                                             const std::vector<index_t>& places,
                                             device_buffer& buffer, bool on_terminal) {
  if (asked.has("to"))
    throw refusal("placements_do_not_fit",
                  "a reshard begins at a layout, and strided shards that "
                  "cut these extents otherwise are none");
  sharding_context context(ordered_mesh_of(about, places));
  context.has_extents = about.shape.has_value();
  if (about.shape) context.extents = *about.shape;
  const std::string words = to_words(about.cut->placements);
  const sharding_picture shown = read_picture(text_view(words), context, buffer);
  if (!shown.verdict.ok()) throw refusal("placements_do_not_fit", str(shown.verdict.reason));
  if (asked.has("svg")) return write_image(asked, to_svg(text_view(words), context));
  drawing answer;
  picture_sink out{answer.picture};
  (void)write_picture(out, text_view(words), context, buffer, style_of(asked, on_terminal));
  return answer;
}

}  // namespace detail

/// Answers `draw`. `on_terminal`: the answer is read where colours can be shown.
[[nodiscard]] inline drawing draw(const request& asked, workspace& memory, bool on_terminal) {
  if (asked.has("collective")) return detail::draw_collective(asked);
  device_buffer buffer = memory.buffer();
  if (asked.has("hlo") && is_hlo_tuple(text_view(*asked.get("hlo"))))
    throw refusal("sharding_has_no_mesh", "one element of a tuple is drawn at a time");
  const subject about = read_subject(asked, buffer);
  const std::vector<index_t> places = places_of(about.devices);
  if (about.is_cut_otherwise())
    return detail::draw_placements(asked, about, places, buffer, on_terminal);
  const detail::drawable shown = detail::drawable_of(about, places, buffer);
  std::optional<layout_desc> target;
  if (const auto& to = asked.get("to")) {
    (void)asked.need("shape");
    target = read_spec(*to, shown.mesh);
    judge(validate(shown.mesh, *target, *about.shape));
    target = judged(shown.mesh, *target, about.shape, single_cut{});
  }
  tensor_desc tensor{element::f32, {}, shown.layout};
  if (about.shape) tensor.extents = *about.shape;

  if (asked.has("svg"))
    return detail::write_image(asked, !about.shape ? to_svg(shown.mesh, shown.layout)
                                      : target     ? to_svg(shown.mesh, tensor, *target)
                                                   : to_svg(shown.mesh, tensor));
  const picture_style style = detail::style_of(asked, on_terminal);
  drawing answer;
  detail::picture_sink out{answer.picture};
  if (!about.shape)
    write_picture(out, shown.mesh, shown.layout, style);
  else if (target)
    write_reshard(out, shown.mesh, tensor, *target, style);
  else
    write_picture(out, shown.mesh, tensor, style);
  return answer;
}

/// Writes a drawing as an object: the picture, or the name of the file.
inline void write_json(json_writer& out, const drawing& answer) {
  out.open('{');
  out.key(answer.file.empty() ? "picture" : "svg");
  out.value(answer.file.empty() ? answer.picture : answer.file);
  out.close('}');
}

/// The picture for people; nothing where it is in a file.
[[nodiscard]] inline std::string to_text(const drawing& answer) { return answer.picture; }

}  // namespace tool
