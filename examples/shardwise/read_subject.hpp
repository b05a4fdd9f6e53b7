// SPDX-License-Identifier: BSL-1.0
// From a request to the sharding that it is about.
#pragma once

#include "request.hpp"
#include "subject.hpp"
#include <shardwise/notation/hlo_layout.hpp>
#include <shardwise/notation/hlo_named.hpp>
#include <shardwise/notation/hlo_tuple.hpp>
#include <shardwise/notation/mesh_reader.hpp>

namespace tool {

/// Reads a mesh, and its devices where they have an order of their own.
inline void take_mesh(subject& about, std::string_view words, device_buffer& buffer) {
  const index_t room = buffer.room();
  const auto read = parse_mesh(text_view(words), buffer);
  if (read.rule.rule == violation::text_is_malformed)
    refuse_text("mesh_is_malformed", read.verdict);
  judge(read.rule);
  judge(check_known(read.mesh));
  if (read.mesh.devices() > most_devices)
    throw refusal("mesh_is_too_large",
                  "a mesh has at most " + std::to_string(most_devices) + " devices here");
  about.mesh = mesh_desc{read.mesh.axes};
  about.devices.assign(read.mesh.order.devices().begin(), read.mesh.order.devices().end());
  buffer.give_back(room - buffer.room());
}

/// Reads the mesh of a request and the order of its devices, if it has them.
inline void read_mesh_of(const request& asked, subject& about, device_buffer& buffer) {
  if (asked.has("mesh")) take_mesh(about, *asked.get("mesh"), buffer);
  if (!asked.has("devices")) return;
  if (!about.devices.empty())
    throw refusal("options_exclude_each_other", "the mesh has the order of its devices already");
  about.devices = read_devices(*asked.get("devices"), "devices");
  if (!about.mesh) return;
  const auto count = static_cast<index_t>(about.devices.size());
  const index_t size = about.mesh->devices();
  if (count != size)
    throw refusal("device_count_differs",
                  "the number of devices must match mesh size: " + std::to_string(count) +
                      " where " + std::to_string(size) + " are needed");
  for (const index_t device : about.devices)
    if (device >= size)
      judge({.rule = violation::device_is_out_of_range, .have = device, .want = size});
  if (is_plain(about.devices)) about.devices.clear();
}

/// A sharding that has no tiles, and no words in the notations of tiles and of names.
inline void take_no_tiles(subject& about, const std::string& reason) {
  about.named = known<named_sharding>::none(reason);
  about.tiles = about.hlo = known<hlo_sharding>::none(reason);
}

/// A layout as its text means it: where the shape does not divide, it is uneven by this policy.
[[nodiscard]] inline layout_desc judged(const mesh_desc& mesh, layout_desc layout,
                                        const std::optional<extents_desc>& shape,
                                        policy_desc policy) {
  layout.follow(exact{});
  if (shape && !validate(mesh, layout, *shape).ok()) layout.follow(policy);
  return layout;
}

/// The other forms of a layout on the subject's mesh.
inline void take_layout(subject& about, const layout_desc& given, device_buffer& buffer) {
  const layout_desc layout = about.shape ? in_single_cuts(*about.mesh, given, *about.shape) : given;
  about.layout = layout;
  about.named = to_named(*about.mesh, layout, about.devices);
  for (const named_dim& dim : about.named->dims)
    if (const text_view reason = why_not(dim); !reason.empty())
      return take_no_tiles(about, str(reason));
  named_sharding summed = *about.named;
  summed.kind = reduction::sum;
  const hlo_result tiles = to_hlo(summed, buffer);
  if (!tiles.verdict.ok()) refuse_text("sharding_has_no_tiles", tiles.verdict);
  about.tiles = tiles.sharding;
  if (about.named->kind == reduction::sum)
    about.hlo = about.tiles;
  else
    about.hlo = known<hlo_sharding>::none("tiles are unreduced by a sum");
  about.is_spec = layout.pending == 0 && layout.manual == 0;
}

/// The layout of those dimensions whose placements are one; refuses what is no order of axes.
[[nodiscard]] inline layout_desc layout_by_dimension(const mesh_desc& mesh,
                                                     const dtensor_placements& placements,
                                                     int rank) {
  layout_desc layout;
  layout.dims.resize(static_cast<std::size_t>(rank));
  for (int d = 0; d < rank; ++d) {
    dtensor_placements alone = placements;
    for (dtensor_placement& one : alone)
      if (!one.splits(d)) one = {};
    const read_layout read = to_layout(mesh, alone, rank, uneven{});
    if (read.verdict.ok()) {
      layout.dims[d] = read.layout.dims[d];
      layout.grains[d] = read.layout.grains[d];
    } else if (!(read.verdict.reason == strided_otherwise)) {
      throw refusal("placements_do_not_fit", str(read.verdict.reason));
    }
  }
  return layout;
}

/// Placements for a tensor whose rank is that of the shape, or the least that they name.
inline void take_placements(subject& about, std::string_view words, device_buffer& buffer) {
  const read_placements read = parse_placements(words);
  if (!read.verdict.ok()) refuse_text("placements_are_malformed", read.verdict);
  int rank = about.shape ? about.shape->ssize() : 0;
  if (!about.shape)
    for (const dtensor_placement& one : read.placements) {
      const bool splits =
          one.kind == dtensor_placement::shard || one.kind == dtensor_placement::strided;
      if (splits && one.dim < 0)
        throw refusal("option_is_missing", "a dimension from the end needs --shape");
      if (splits && one.dim >= max_rank)
        throw refusal("rank_is_too_high", "a tensor has at most 8 dimensions");
      if (splits && one.dim >= rank) rank = one.dim + 1;
    }
  mesh_cut& cut = about.cut.emplace();
  cut.placements = read.placements;
  for (dtensor_placement& one : cut.placements)
    if (one.dim < 0) one.dim += rank;
  const read_layout layout = to_layout(*about.mesh, read.placements, rank, uneven{});
  if (layout.verdict.ok()) {
    cut.layout = judged(*about.mesh, layout.layout, about.shape, uneven{});
    return take_layout(about, cut.layout, buffer);
  }
  if (!(layout.verdict.reason == strided_otherwise))
    throw refusal("placements_do_not_fit", str(layout.verdict.reason));
  cut.layout = layout_by_dimension(*about.mesh, cut.placements, rank);
  about.layout = known<layout_desc>::none(str(layout.verdict.reason));
  take_no_tiles(about, about.layout.why_not);
}

/// An HLO sharding in the names of a mesh, which has to be the request's if there is one.
inline void take_named(subject& about, std::string_view words, device_buffer& buffer) {
  const named_result read = parse_hlo_named(text_view(words), buffer);
  if (!read.verdict.ok()) refuse_text("hlo_is_malformed", read.verdict);
  const named_sharding& named = read.sharding;
  if (named.on.mesh.devices() > most_devices)
    throw refusal("mesh_is_too_large",
                  "a mesh has at most " + std::to_string(most_devices) + " devices here");
  const bool same = !about.mesh || (!named.on.maximal() && *about.mesh == named.on.mesh &&
                                    same_devices(about.devices, named.on.devices));
  if (!same || (!about.mesh && !about.devices.empty()))
    throw refusal("meshes_differ", "the sharding has a mesh of its own, and it is another one");
  const bool listed = named.whole == named_sharding::listed && !named.on.maximal();
  if (listed) require_rank(about, named.rank());
  about.named = named;
  if (!named.on.maximal()) {
    about.mesh = named.on.mesh;
    about.devices.assign(named.on.devices.data(),
                         named.on.devices.data() + named.on.devices.size());
    const int rank = listed ? named.rank() : about.shape ? about.shape->ssize() : 0;
    const read_layout layout = to_layout(named, rank);
    if (layout.verdict.ok())
      about.layout = judged(*about.mesh, layout.layout, about.shape, single_cut{});
    else
      about.layout = known<layout_desc>::none(str(layout.verdict.reason));
  } else {
    about.layout = known<layout_desc>::none("a layout has a mesh, not one device");
  }
  named_sharding summed = named;
  summed.kind = reduction::sum;
  const hlo_result tiles = to_hlo(summed, buffer);
  if (!tiles.verdict.ok()) refuse_text("sharding_has_no_tiles", tiles.verdict);
  about.tiles = tiles.sharding;
  if (named.kind == reduction::sum)
    about.hlo = about.tiles;
  else
    about.hlo = known<hlo_sharding>::none("tiles are unreduced by a sum");
}

/// An HLO sharding with listed or ordered devices; with a mesh also the layout on it, if any.
inline void take_hlo(subject& about, std::string_view words, device_buffer& buffer) {
  const hlo_result read = parse_hlo(text_view(words), buffer);
  if (!read.verdict.ok()) refuse_text("hlo_is_malformed", read.verdict);
  const hlo_sharding& hlo = read.sharding;
  const bool tiled = hlo.kind == hlo_kind::tiled;
  if (tiled && hlo.tiles.count() > most_devices)
    throw refusal("too_many_devices",
                  "at most " + std::to_string(most_devices) + " devices are listed");
  if (tiled) require_rank(about, hlo.rank());
  about.tiles = hlo;
  about.hlo = hlo;
  // These two need no mesh: one device, and everything everywhere.
  if (hlo.kind == hlo_kind::maximal) about.named = named_sharding{.on = {.device = hlo.device}};
  if (hlo.kind == hlo_kind::replicated)
    about.named = named_sharding{.whole = named_sharding::replicated_whole};
  if (!about.mesh) {
    if (!about.devices.empty() && (tiled || hlo.kind == hlo_kind::maximal))
      throw refusal("option_does_not_apply",
                    "the sharding lists its devices; --devices is the order of a --mesh");
    return;
  }
  const mesh_desc& mesh = *about.mesh;
  if (tiled && hlo.tiles.count() != mesh.devices())
    throw refusal("device_count_differs", "the tiles of the sharding must match mesh size: " +
                                              std::to_string(hlo.tiles.count()) + " where " +
                                              std::to_string(mesh.devices()) + " are needed");
  if (hlo.kind == hlo_kind::maximal && hlo.device >= mesh.devices())
    judge({.rule = violation::device_is_out_of_range, .have = hlo.device, .want = mesh.devices()});
  const int rank = tiled ? hlo.rank() : about.shape ? about.shape->ssize() : 0;
  const read_layout layout = to_layout(hlo, mesh, rank, buffer, about.devices);
  if (layout.verdict.ok())
    about.layout = judged(mesh, layout.layout, about.shape, single_cut{});
  else
    about.layout = known<layout_desc>::none(str(layout.verdict.reason));
  if (hlo.kind == hlo_kind::maximal) return;
  if (layout.verdict.ok() && (tiled || about.shape)) {
    about.named = to_named(mesh, *about.layout, about.devices);
  } else if (!tiled && hlo.kind != hlo_kind::unknown) {
    constexpr auto none = named_sharding::listed;
    constexpr named_sharding::whole_t wholes[] = {
        named_sharding::replicated_whole, none, none,
        named_sharding::manual_whole,     none, named_sharding::unreduced_whole};
    about.named = named_sharding{.on = {mesh, about.devices},
                                 .whole = wholes[static_cast<unsigned>(hlo.kind)]};
  } else {
    about.named = known<named_sharding>::none(str(layout.verdict.reason));
  }
}

/// One HLO sharding, not a tuple, in either form.
inline void take_any_hlo(subject& about, std::string_view words, device_buffer& buffer) {
  text_reader in{text_view(words)};
  in.accept('{');
  const text_view word = in.word();
  if (word == "mesh" || word == "maximal_mesh")
    take_named(about, words, buffer);
  else
    take_hlo(about, words, buffer);
}

/// What a request is about: its mesh and shape, and its sharding unless that is a tuple.
[[nodiscard]] inline subject read_subject(const request& asked, device_buffer& buffer) {
  subject about;
  read_mesh_of(asked, about, buffer);
  if (asked.has("shape")) about.shape = read_shape(*asked.get("shape"));
  const int forms = int(asked.has("spec")) + int(asked.has("hlo")) + int(asked.has("placements"));
  if (forms == 0) throw refusal("option_is_missing", "this needs --spec, --placements or --hlo");
  if (forms > 1)
    throw refusal("options_exclude_each_other",
                  "one of --spec, --placements and --hlo says what the sharding is");
  if (asked.has("hlo")) {
    if (!is_hlo_tuple(text_view(*asked.get("hlo")))) take_any_hlo(about, *asked.get("hlo"), buffer);
    return about;
  }
  (void)asked.need("mesh");
  if (asked.has("placements")) {
    take_placements(about, *asked.get("placements"), buffer);
    return about;
  }
  layout_desc layout = read_spec(*asked.get("spec"), *about.mesh);
  if (about.shape) judge(validate(*about.mesh, layout, *about.shape));
  layout = judged(*about.mesh, layout, about.shape, single_cut{});
  take_layout(about, layout, buffer);
  if (!about.tiles) about.cut = mesh_cut{{}, layout};
  return about;
}

}  // namespace tool
