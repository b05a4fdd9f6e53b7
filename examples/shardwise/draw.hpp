// SPDX-License-Identifier: BSL-1.0
// Pictures of who holds what: `shardwise draw`.
#pragma once

#include "drawable.hpp"
#include <shardwise/draw/before_after.hpp>
#include <shardwise/draw/svg_collective.hpp>
#include <shardwise/draw/svg_reshard.hpp>
#include <shardwise/draw/svg_tensor.hpp>
#include <shardwise/draw/visualize_text.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tool {

/// One step of a reshard: the collective, and the tensor before and after it.
struct drawn_step {
  std::string kind;
  std::vector<std::string> axes;
  index_t bytes = 0;  ///< that each device receives
  std::string says;
  std::string before;
  std::string after;
  std::string image;
};

/// What `draw` answers: a picture as text or as an image, and the steps of a reshard.
struct drawing {
  std::string picture{};
  std::string image{};
  bool is_reshard = false;
  std::vector<drawn_step> steps{};
};

namespace detail {

/// True if a picture of text has colours, which `by_default` says of what reads it.
[[nodiscard]] inline outcome<bool> wants_color(const request& asked, bool by_default) {
  const auto& color = asked.get("color");
  if (!color || *color == "auto") return by_default;
  if (*color == "always") return true;
  if (*color == "never") return false;
  return located(
      refusal("color_is_unknown", in_quotes(*color) + " is none of auto, always and never")
          .about(*color, {"auto", "always", "never"}),
      "color", *color);
}

/// An image as it is asked for: dark for every reader, or as the reader prefers.
[[nodiscard]] inline std::string in_its_colors(const request& asked, std::string image) {
  const std::string_view preference = "(prefers-color-scheme:dark)";
  const std::size_t place = image.find(preference);
  if (asked.has("dark") && place != image.npos) image.replace(place, preference.size(), "all");
  return image;
}

/// The image of a collective by its smallest example.
[[nodiscard]] inline outcome<drawing> draw_collective(const request& asked) {
  for (const option& one : options)
    if (asked.has(one.label) && one.label != "collective" && one.label != "svg" &&
        one.label != "dark" && one.label != "json")
      return refusal("options_exclude_each_other",
                     "--collective is drawn by an example of its own, without --" +
                         std::string(one.label))
          .of(one.label);
  if (auto svg = asked.need("svg"); !svg) return svg.why();
  std::vector<std::string> all;
  for (const collective kind :
       {collective::slice, collective::all_gather, collective::all_to_all,
        collective::reduce_scatter, collective::all_reduce, collective::collective_permute,
        collective::broadcast, collective::halo_exchange}) {
    all.push_back(str(to_text(kind)));
    if (all.back() == *asked.get("collective"))
      return drawing{.image = in_its_colors(asked, to_svg(kind))};
  }
  const std::string& words = *asked.get("collective");
  return located(
      refusal("collective_is_unknown",
              in_quotes(words) + " is none of slice, all_gather, all_to_all, reduce_scatter, "
                                 "all_reduce, collective_permute, broadcast and halo_exchange")
          .about(words, std::move(all)),
      "collective", words);
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
[[nodiscard]] inline outcome<picture_style> style_of(const request& asked, bool has_colors) {
  if (asked.has("dark"))
    return refusal("option_is_missing", "--dark is said of an --svg").of("svg");
  picture_style style;
  const auto color = wants_color(asked, has_colors);
  if (!color) return color.why();
  style.colour = *color;
  if (const auto& words = asked.get("width")) {
    const auto width = read_number(*words, 1'000'000, "width");
    if (!width) return located(width.why(), "width", *words);
    if (*width < 1)
      return refusal("number_is_malformed", "a line has at least one character").of("width");
    style.width = static_cast<std::size_t>(*width);
  }
  return style;
}

/// The picture of placements that cut a tensor otherwise than every layout.
[[nodiscard]] inline outcome<drawing> draw_placements(const request& asked, const subject& about,
                                                      const std::vector<index_t>& places,
                                                      device_buffer& buffer, bool has_colors) {
  if (asked.has("to"))
    return refusal("placements_do_not_fit",
                   "a reshard begins at a layout, and strided shards that cut these extents "
                   "otherwise are none")
        .of("to");
  sharding_context context(ordered_mesh_of(about, places));
  context.has_extents = about.shape.has_value();
  if (about.shape) context.extents = *about.shape;
  const std::string words = to_words(about.cut->placements);
  const sharding_picture shown = read_picture(text_view(words), context, buffer);
  if (!shown.verdict.ok()) return refusal("placements_do_not_fit", str(shown.verdict.reason));
  drawing answer;
  if (asked.has("svg")) {
    answer.image = in_its_colors(asked, to_svg(text_view(words), context));
    return answer;
  }
  const auto style = style_of(asked, has_colors);
  if (!style) return style.why();
  picture_sink out{answer.picture};
  (void)write_picture(out, text_view(words), context, buffer, *style);
  return answer;
}

/// The layout that a tensor has after a reshard.
[[nodiscard]] inline outcome<layout_desc> target_of(const request& asked, const drawable& shown,
                                                    const std::vector<index_t>& devices,
                                                    const std::optional<extents_desc>& shape,
                                                    device_buffer& buffer) {
  const std::string& words = *asked.get("to");
  if (!shape) return refusal("option_is_missing", "this needs --shape").of("shape");
  subject target;
  target.mesh = mesh_desc{shown.mesh.axes};
  target.devices = devices;
  target.shape = shape;
  auto no = take_any(target, words, buffer);
  if (!no && !target.layout)
    no = refusal("placements_do_not_fit", "a reshard ends at a layout: " + target.layout.why_not);
  if (no) return located_sharding(*std::move(no), target, "to", words);
  return *target.layout;
}

/// The steps of a reshard, each with an image of its own if `with_images`.
[[nodiscard]] inline outcome<std::vector<drawn_step>> steps_of(const request& asked,
                                                               const mesh_desc& mesh,
                                                               tensor_desc tensor,
                                                               const layout_desc& target,
                                                               bool with_images) {
  const redistribution way = redistribute(mesh, tensor, target);
  if (auto no = judge(way.verdict)) {
    const std::string& words = *asked.get("to");
    return located(*std::move(no), "to", words);
  }
  std::vector<drawn_step> steps;
  for (const planned_transfer& move : way.moves) {
    drawn_step& step = steps.emplace_back();
    step.kind = str(to_text(move.kind));
    for (const std::uint8_t a : move.axes) step.axes.push_back(str(text_view(mesh.axes[a].label)));
    step.bytes = move.total_bytes();
    bounded_text<400> words;
    step.says = str(text_view(shardwise::detail::write_move(words, mesh, move)));
    step.before = str(to_text(mesh, tensor));
    if (with_images) step.image = in_its_colors(asked, to_svg(mesh, tensor, move.after));
    tensor.layout = move.after;
    step.after = str(to_text(mesh, tensor));
  }
  return steps;
}

}  // namespace detail

/// Answers `draw`. `has_colors`: the answer is read where colours can be shown. `with_steps`: the
/// steps of a reshard are data of the answer.
[[nodiscard]] inline outcome<drawing> draw(const request& asked, workspace& memory, bool has_colors,
                                           bool with_steps) {
  if (asked.has("collective")) return detail::draw_collective(asked);
  device_buffer buffer = memory.buffer();
  if (is_of_tuple(asked))
    return refusal("sharding_has_no_mesh", "one element of a tuple is drawn at a time")
        .of(*sharding_option(asked));
  const auto read = read_subject(asked, buffer);
  if (!read) return read.why();
  const subject& about = *read;
  const auto places = places_of(about.devices);
  if (!places) return places.why();
  if (about.is_cut_otherwise())
    return detail::draw_placements(asked, about, *places, buffer, has_colors);
  const auto shown = detail::drawable_of(about, *places, buffer);
  if (!shown) return shown.why();
  std::optional<layout_desc> target;
  if (asked.has("to")) {
    const auto after = detail::target_of(asked, *shown, about.devices, about.shape, buffer);
    if (!after) return after.why();
    target = *after;
  }
  tensor_desc tensor{about.type, {}, shown->layout};
  if (about.shape) tensor.extents = *about.shape;

  drawing answer;
  answer.is_reshard = target.has_value();
  if (target && with_steps) {
    auto steps = detail::steps_of(asked, shown->mesh, tensor, *target, asked.has("svg"));
    if (!steps) return steps.why();
    answer.steps = *std::move(steps);
  }
  if (asked.has("svg")) {
    answer.image = detail::in_its_colors(asked, !about.shape ? to_svg(shown->mesh, shown->layout)
                                                : target     ? to_svg(shown->mesh, tensor, *target)
                                                             : to_svg(shown->mesh, tensor));
    return answer;
  }
  const auto style = detail::style_of(asked, has_colors);
  if (!style) return style.why();
  detail::picture_sink out{answer.picture};
  if (!about.shape)
    write_picture(out, shown->mesh, shown->layout, *style);
  else if (target)
    write_reshard(out, shown->mesh, tensor, *target, *style);
  else
    write_picture(out, shown->mesh, tensor, *style);
  return answer;
}

}  // namespace tool
