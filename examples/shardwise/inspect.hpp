// SPDX-License-Identifier: BSL-1.0
// Everything that follows from a sharding: `shardwise inspect`.
#pragma once

#include "inspection.hpp"
#include <shardwise/notation/sdy_text.hpp>

#include <numeric>

namespace tool {

namespace detail {

template <class Write>
[[nodiscard]] known<std::string> written(Write write) {
  string_sink out;
  write(out);
  return out.words;
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
inline void write_notations(const subject& about, device_buffer& buffer, inspection& found) {
  using words = known<std::string>;
  const auto add = [&](std::string_view label, words text) {
    found.notations.push_back({label, std::move(text)});
  };
  const auto sdy = [](const named_sharding& named) {
    return written([&](auto& out) { write_sdy(out, named); });
  };
  if (about.hlo) {
    const hlo_result listed = to_list(*about.hlo, buffer);
    if (!listed.verdict.ok()) refuse_text("too_many_devices", listed.verdict);
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
}

/// The devices in the order of the mesh.
inline void list_devices(const subject& about, inspection& found) {
  auto& devices = found.devices.emplace(about.devices);
  if (!devices.empty()) return;
  devices.resize(static_cast<std::size_t>(about.mesh->devices()));
  std::iota(devices.begin(), devices.end(), index_t{0});
}

/// Type, tiles and devices as PyTorch/XLA derives them from a mesh and a spec.
inline void derive_from_spec(const subject& about, inspection& found) {
  const op_result derived = to_op_sharding(*about.mesh, *about.layout, about.devices);
  if (!derived.verdict.ok()) refuse_text("sharding_has_no_tiles", derived.verdict);
  const op_sharding& op = derived.sharding;
  found.type = op.type;
  found.dims = op.dims;
  found.groups = op.dims;
  found.replicas = op.group_size;
  auto& devices = found.devices.emplace(static_cast<std::size_t>(op.order.count()));
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices[i] = op.member(0, static_cast<index_t>(i));
  found.tiles.kind = op.type == sharding_type::replicated ? hlo_kind::replicated : hlo_kind::tiled;
  if (found.tiles.kind == hlo_kind::replicated) return;
  found.tiles.tiles.dims = op.dims;
  found.tiles.tiles.dims.push_back(op.group_size);
  found.tiles.groups = {hlo_group::replicated};
}

/// The same as the tiles alone say it.
inline void derive_from_tiles(const subject& about, inspection& found) {
  const hlo_sharding& tiles = *about.tiles;
  found.type = type_of(tiles);
  found.tiles.kind = tiles.kind;
  found.tiles.device = tiles.device;
  found.tiles.groups = tiles.groups;
  found.tiles.tiles.dims = tiles.tiles.dims;
  if (tiles.kind == hlo_kind::tiled) {
    auto& dims = found.dims.emplace();
    for (int d = 0; d < tiles.rank(); ++d) dims.push_back(tiles.tiles.dims[d]);
    found.replicas = tiles.replicas();
    found.groups = tiles.tiles.dims;
    if (found.is_partial() && tiles.groups.back() == hlo_group::replicated) found.groups.pop_back();
    auto& devices = found.devices.emplace(static_cast<std::size_t>(tiles.tiles.count()));
    for (std::size_t i = 0; i < devices.size(); ++i)
      devices[i] = tiles.tiles.at(static_cast<index_t>(i));
    return;
  }
  if (about.shape) {
    auto& dims = found.dims.emplace();
    for (int d = 0; d < about.shape->ssize(); ++d) dims.push_back(1);
  } else if (about.layout) {
    auto& dims = found.dims.emplace();
    for (int d = 0; d < about.layout->rank(); ++d) dims.push_back(1);
    if (!about.named || about.named->whole != named_sharding::listed) found.dims.reset();
  }
  if (tiles.kind == hlo_kind::maximal) {
    found.devices.emplace(1, tiles.device);
  } else if (about.mesh || !about.devices.empty()) {
    list_devices(about, found);
  }
}

}  // namespace detail

/// Everything that follows from one sharding.
[[nodiscard]] inline inspection inspect_one(const subject& about, device_buffer& buffer) {
  inspection found;
  found.shape = about.shape;
  found.cut = about.cut;
  if (about.cut) {
    found.mesh = *about.mesh;
    found.places = places_of(about.devices);
  }
  found.why_no_tiles = about.tiles.why_not;
  if (!about.tiles)
    detail::list_devices(about, found);
  else if (about.is_spec)
    detail::derive_from_spec(about, found);
  else
    detail::derive_from_tiles(about, found);
  detail::write_notations(about, buffer, found);
  return found;
}

/// Answers `inspect`; a tuple has the answers for its elements, each of which has the shape. All of
/// them together list at most `most_devices` devices.
[[nodiscard]] inline inspection inspect(const request& asked, workspace& memory) {
  device_buffer buffer = memory.buffer();
  const subject about = read_subject(asked, buffer);
  const std::string none;
  const std::string& hlo = asked.has("hlo") ? *asked.get("hlo") : none;
  if (!is_hlo_tuple(text_view(hlo))) return inspect_one(about, buffer);
  inspection tuple;
  tuple.type = sharding_type::tuple;
  string_sink listed, ordered;
  bool known_all = true;
  index_t listed_devices = 0;
  const parse_verdict verdict = parse_hlo_tuple(text_view(hlo), [&](text_view element) {
    device_buffer room = memory.buffer();
    subject one = about;
    take_any_hlo(one, view(element), room);
    tuple.elements.push_back(inspect_one(one, room));
    if (const auto& devices = tuple.elements.back().devices)
      listed_devices += static_cast<index_t>(devices->size());
    if (listed_devices > most_devices)
      throw refusal("too_many_devices", "the elements of a tuple list at most " +
                                            std::to_string(most_devices) + " devices together");
    for (string_sink* out : {&listed, &ordered}) {
      const known<std::string>& words =
          tuple.elements.back().notations[out == &listed ? 0 : 1].words;
      *out << (out->words.empty() ? text_view("{") : text_view(", "));
      known_all = known_all && words;
      if (words) *out << text_view(*words);
    }
    return parse_verdict{};
  });
  if (!verdict.ok()) refuse_text("hlo_is_malformed", verdict);
  if (tuple.elements.empty()) {
    listed << '{';
    ordered << '{';
  }
  using words = known<std::string>;
  const words unknown = words::none("an element has no tiles");
  tuple.notations.push_back({"hlo", known_all ? words(listed.words + "}") : unknown});
  tuple.notations.push_back({"hlo_v2", known_all ? words(ordered.words + "}") : unknown});
  return tuple;
}

}  // namespace tool
