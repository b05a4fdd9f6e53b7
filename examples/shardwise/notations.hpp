// SPDX-License-Identifier: BSL-1.0
// A sharding in every notation.
#pragma once

#include "inspection.hpp"
#include <shardwise/notation/sdy_text.hpp>

namespace tool {

namespace detail {

template <class Write>
[[nodiscard]] known<std::string> written(Write write) {
  string_sink out;
  write(out);
  return out.words;
}

/// The layout in the notation of the library.
[[nodiscard]] inline std::string layout_words(const mesh_desc& mesh, const layout_desc& layout) {
  message_text out;
  write_layout(out, mesh, layout);
  return str(out);
}

/// The placements that were given, or those that are as good: of chunks in the request's own words,
/// of contiguous parts in one form.
[[nodiscard]] inline known<std::string> placement_words(const subject& about) {
  const bool given = about.cut && !about.cut->placements.empty();
  if (given && (about.is_cut_otherwise() || !about.cut->layout.is_contiguous()))
    return to_words(about.cut->placements);
  using words = known<std::string>;
  if (!about.layout) return words::none(about.layout.why_not);
  const mesh_desc& mesh = *about.mesh;
  const layout_desc layout =
      about.shape ? in_chunks(mesh, *about.layout, *about.shape) : *about.layout;
  const read_placements placed = to_placements(mesh, layout, dtensor_form::ordered);
  if (!placed.verdict.ok()) return words::none(str(placed.verdict.reason));
  if (about.shape && !cuts_alike(mesh, placed.placements, layout, *about.shape))
    return words::none("strided shards cut these extents otherwise");
  return to_words(placed.placements);
}

/// The sharding in every notation.
[[nodiscard]] inline objection write_notations(const subject& about, device_buffer& buffer,
                                               inspection& found) {
  using words = known<std::string>;
  const auto add = [&](std::string_view label, words text) {
    found.notations.push_back({label, std::move(text)});
  };
  const auto sdy = [](const named_sharding& named) {
    return written([&](auto& out) { write_sdy(out, named); });
  };
  if (const auto layout = about.layout_as_cut())
    add("layout", layout_words(*about.mesh, *layout));
  else
    add("layout", words::none(layout.why_not));
  if (about.hlo) {
    const hlo_result listed = to_list(*about.hlo, buffer);
    if (!listed.verdict.ok()) return unread("too_many_devices", listed.verdict);
    add("hlo", written([&](auto& out) { write_hlo(out, listed.sharding); }));
    add("hlo_v2", written([&](auto& out) { write_hlo(out, to_iota(*about.hlo)); }));
  } else {
    add("hlo", words::none(about.hlo.why_not));
    add("hlo_v2", words::none(about.hlo.why_not));
  }
  if (about.named) {
    add("hlo_v3", written([&](auto& out) { write_hlo_named(out, *about.named); }));
    const bool whole = about.named->whole != named_sharding::listed;
    if (about.named->on.maximal())
      add("sdy", written([&](auto& out) {
            const std::string symbol = "maximal_mesh_" + std::to_string(about.named->on.device);
            write_sdy(out, text_view(symbol), *about.named);
          }));
    else if (whole && about.layout && about.shape)
      add("sdy", sdy(to_named(*about.mesh, *about.layout, about.devices)));
    else if (whole)
      add("sdy", words::none("it lists dimensions, and their number is not known"));
    else
      add("sdy", sdy(*about.named));
  } else {
    add("hlo_v3", words::none(about.named.why_not));
    add("sdy", words::none(about.named.why_not));
  }
  add("placements", placement_words(about));
  if (!about.layout)
    add("jax", words::none(about.layout.why_not));
  else if (about.layout->manual != 0)
    add("jax", words::none("a partition spec has no manual axes"));
  else if (!about.named)
    add("jax", words::none(about.named.why_not));
  else
    add("jax", written([&](auto& out) { write_partition_spec(out, *about.mesh, *about.layout); }));
  found.cpp = to_cpp(about);
  return std::nullopt;
}

}  // namespace detail

}  // namespace tool
