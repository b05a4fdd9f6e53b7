// SPDX-License-Identifier: BSL-1.0
// Everything that follows from a sharding: `shardwise inspect`.
#pragma once

#include "mesh_words.hpp"
#include "notations.hpp"

#include <numeric>

namespace tool {

namespace detail {

/// The devices in the order of the mesh.
inline void list_devices(const subject& about, inspection& found) {
  auto& devices = found.devices.emplace(about.devices);
  if (!devices.empty()) return;
  devices.resize(static_cast<std::size_t>(about.mesh->devices()));
  std::iota(devices.begin(), devices.end(), index_t{0});
}

/// Type, tiles and devices as PyTorch/XLA derives them from a mesh and a spec.
[[nodiscard]] inline objection derive_from_spec(const subject& about, inspection& found) {
  const op_result derived = to_op_sharding(*about.mesh, *about.layout, about.devices);
  if (!derived.verdict.ok()) return unread("sharding_has_no_tiles", derived.verdict);
  const op_sharding& op = derived.sharding;
  found.type = op.type;
  found.dims = op.dims;
  found.groups = op.dims;
  found.replicas = op.group_size;
  auto& devices = found.devices.emplace(static_cast<std::size_t>(op.order.count()));
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices[i] = op.member(0, static_cast<index_t>(i));
  found.tiles.kind = op.type == sharding_type::replicated ? hlo_kind::replicated : hlo_kind::tiled;
  if (found.tiles.kind == hlo_kind::replicated) return std::nullopt;
  found.tiles.tiles.dims = op.dims;
  found.tiles.tiles.dims.push_back(op.group_size);
  found.tiles.groups = {hlo_group::replicated};
  return std::nullopt;
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
[[nodiscard]] inline outcome<inspection> inspect_one(const subject& about, device_buffer& buffer) {
  inspection found;
  found.shape = about.shape;
  found.cut = about.cut;
  if (about.cut) {
    found.mesh = *about.mesh;
    auto places = places_of(about.devices);
    if (!places) return places.why();
    found.places = *std::move(places);
  }
  found.why_no_tiles = about.tiles.why_not;
  found.notation = about.notation;
  if (about.mesh) found.mesh_text = mesh_words(*about.mesh, about.devices);
  if (!about.tiles) {
    detail::list_devices(about, found);
  } else if (about.is_spec) {
    if (auto no = detail::derive_from_spec(about, found)) return *std::move(no);
  } else {
    detail::derive_from_tiles(about, found);
  }
  if (auto no = detail::write_notations(about, buffer, found)) return *std::move(no);
  return found;
}

namespace detail {

/// The elements of a tuple, each of which has the mesh and the shape of `about`. All of them
/// together list at most `most_devices` devices.
[[nodiscard]] inline outcome<inspection> inspect_tuple(const subject& about, std::string_view words,
                                                       workspace& memory) {
  inspection tuple;
  tuple.type = sharding_type::tuple;
  string_sink listed, ordered;
  bool known_all = true;
  index_t listed_devices = 0;
  objection no;
  const parse_verdict verdict = parse_hlo_tuple(text_view(words), [&](text_view element) {
    const auto refuse = [&](refusal why) {
      no = std::move(why);
      return parse_verdict{0, "an element is refused"};
    };
    device_buffer room = memory.buffer();
    subject one = about;
    if (auto why = take_any_hlo(one, view(element), room))
      return refuse(
          unread_part(*std::move(why), static_cast<std::size_t>(element.data() - words.data())));
    auto answer = inspect_one(one, room);
    if (!answer) return refuse(answer.why());
    if (const auto& devices = answer->devices)
      listed_devices += static_cast<index_t>(devices->size());
    if (listed_devices > most_devices)
      return refuse({"too_many_devices", "the elements of a tuple list at most " +
                                             std::to_string(most_devices) + " devices together"});
    for (string_sink* out : {&listed, &ordered}) {
      const known<std::string>* const text = answer->words(out == &listed ? "hlo" : "hlo_v2");
      *out << (out->words.empty() ? text_view("{") : text_view(", "));
      known_all = known_all && *text;
      if (*text) *out << text_view(**text);
    }
    tuple.elements.push_back(*std::move(answer));
    return parse_verdict{};
  });
  if (no) return *std::move(no);
  if (!verdict.ok()) return unread("hlo_is_malformed", verdict);
  if (tuple.elements.empty()) {
    listed << '{';
    ordered << '{';
  }
  using text = known<std::string>;
  const text unknown = text::none("an element has no tiles");
  tuple.notations.push_back({"hlo", known_all ? text(listed.words + "}") : unknown});
  tuple.notations.push_back({"hlo_v2", known_all ? text(ordered.words + "}") : unknown});
  return tuple;
}

}  // namespace detail

/// Answers `inspect`; a tuple has the answers for its elements.
[[nodiscard]] inline outcome<inspection> inspect(const request& asked, workspace& memory) {
  device_buffer buffer = memory.buffer();
  const auto about = read_subject(asked, buffer);
  if (!about) return about.why();
  if (is_of_tuple(asked)) {
    const std::string_view option = *sharding_option(asked);
    auto tuple = detail::inspect_tuple(*about, *asked.get(option), memory);
    if (!tuple) return located(tuple.why(), option, *asked.get(option));
    return tuple;
  }
  auto found = inspect_one(*about, buffer);
  if (!found) return found.why();
  for (const reading& other : about->others) {
    request instead = asked;
    instead.replace("sharding", other.words);
    found->others.emplace_back(other.notation, std::move(instead));
  }
  return found;
}

}  // namespace tool
