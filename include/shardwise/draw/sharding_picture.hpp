// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/draw/hlo_tiles.hpp"
#include "shardwise/draw/placement_tiles.hpp"
#include "shardwise/notation.hpp"

namespace shardwise {

/// Information that the text of a sharding may omit: the mesh of its names, and the extents of its
/// tensor.
///
///     visualize(std::cout, "S(0) R", {pod::value, {8, 16}});
struct sharding_context {
  named_mesh on{};
  extents_desc extents{};
  bool has_mesh = false;
  bool has_extents = false;

  constexpr sharding_context() = default;
  constexpr sharding_context(const extents_desc& sizes) noexcept
      : extents(sizes), has_extents(true) {}
  constexpr sharding_context(const named_mesh& mesh) noexcept : on(mesh), has_mesh(true) {}
  constexpr sharding_context(const mesh_desc& mesh) noexcept : on(to_named(mesh)), has_mesh(true) {}
  constexpr sharding_context(const named_mesh& mesh, const extents_desc& sizes) noexcept
      : on(mesh), extents(sizes), has_mesh(true), has_extents(true) {}
  constexpr sharding_context(const mesh_desc& mesh, const extents_desc& sizes) noexcept
      : sharding_context(to_named(mesh), sizes) {}
};

/// The picture described by the text of a sharding: a layout on a mesh, tiles, or strided shards
/// that are neither.
struct sharding_picture {
  enum form_t : std::uint8_t { as_tiles, as_layout, as_placements } form = as_tiles;
  named_mesh on{};       ///< of a layout and of placements
  tensor_desc tensor{};  ///< of tiles and placements only the extents
  hlo_sharding tiles{};
  dtensor_placements placements{};
  index_t devices = 0;    ///< for tiles that don't say how many there are
  bool is_sized = false;  ///< the extents are given
  bool is_typed = false;  ///< so is the type of the elements
  parse_verdict verdict{};
};

namespace detail {

[[nodiscard]] constexpr sharding_picture no_picture(const parse_verdict& verdict) noexcept {
  sharding_picture none;
  none.verdict = verdict;
  return none;
}

/// Layouts whose extents are not divisible have the policy `policy`, the one that the notation
/// implies.
[[nodiscard]] constexpr sharding_picture picture_of_layout(const read_layout& read,
                                                           const named_mesh& on,
                                                           const sharding_context& about,
                                                           policy_desc policy) noexcept {
  if (!read.verdict.ok()) return no_picture(read.verdict);
  sharding_picture shown;
  shown.form = sharding_picture::as_layout;
  shown.on = on;
  shown.is_sized = about.has_extents;
  shown.tensor.layout = read.layout;
  shown.tensor.extents = about.extents;
  if (about.has_extents && !validate(on.mesh, read.layout, about.extents).ok())
    shown.tensor.layout.follow(policy);
  return shown;
}

[[nodiscard]] constexpr sharding_picture picture_of_tiles(const hlo_result& read,
                                                          const sharding_context& about,
                                                          device_buffer& buffer) noexcept {
  const auto refuse = [](text_view reason) { return no_picture({0, reason}); };
  if (!read.verdict.ok()) return no_picture(read.verdict);
  const bool tiled = read.sharding.kind == hlo_kind::tiled;
  if (read.sharding.rank() > max_rank) return refuse("a tensor has at most 8 dimensions");
  if (tiled && about.has_extents && read.sharding.rank() != about.extents.ssize())
    return refuse("a sharding has one entry for each dimension");
  if (tiled && about.has_mesh && read.sharding.tiles.count() != about.on.mesh.devices())
    return refuse("tiles and mesh have as many devices");
  const hlo_result told = for_picture(read.sharding, buffer);
  if (!told.verdict.ok()) return no_picture(told.verdict);
  sharding_picture shown;
  shown.devices = about.has_mesh ? about.on.mesh.devices() : 0;
  shown.tiles = told.sharding;
  shown.tensor.extents = about.extents;
  shown.is_sized = about.has_extents;
  return shown;
}

/// A named sharding is drawn as a layout, or as tiles if it is not one.
[[nodiscard]] constexpr sharding_picture picture_of_names(const named_result& read,
                                                          const sharding_context& about,
                                                          device_buffer& buffer) noexcept {
  if (!read.verdict.ok()) return no_picture(read.verdict);
  const named_sharding& sharding = read.sharding;
  const int rank = about.has_extents ? about.extents.ssize() : sharding.rank();
  if (const text_view reason = why_not(sharding, rank); !reason.empty())
    return no_picture({0, reason});
  const read_layout layout = to_layout(sharding, rank);
  if (layout.verdict.ok()) return picture_of_layout(layout, sharding.on, about, single_cut{});
  sharding_context alone = about;
  alone.on = sharding.on;
  alone.has_mesh = !sharding.on.maximal();
  return picture_of_tiles(to_hlo(sharding, buffer), alone, buffer);
}

/// Returns true if the numbers of elements and bytes can be represented.
[[nodiscard]] constexpr bool is_countable(const extents_desc& extents) noexcept {
  index_t room = index_t{1} << 56;
  for (index_t extent : extents) {
    if (extent < 0 && extent != dyn) return false;
    if (extent > 0) room /= extent;
  }
  return room > 0;
}

/// Returns the minimum rank for these placements.
[[nodiscard]] constexpr int rank_of(const dtensor_placements& placements) noexcept {
  int rank = 0;
  for (const dtensor_placement& one : placements)
    if (one.kind != dtensor_placement::replicate && one.dim >= rank) rank = one.dim + 1;
  return rank;
}

/// Placements are drawn as a layout. Strided shards that are not a layout, or that split these
/// extents differently from their layout, are drawn as in DTensor.
[[nodiscard]] constexpr sharding_picture picture_of_placements(
    const dtensor_placements& placements, const sharding_context& about) noexcept {
  const mesh_desc& mesh = about.on.mesh;
  const int rank = about.has_extents ? about.extents.ssize() : rank_of(placements);
  const read_layout layout = to_layout(mesh, placements, rank);
  sharding_picture shown;
  shown.placements = placements;
  for (dtensor_placement& one : shown.placements) {
    if (one.dim < 0) one.dim += rank;
    if (one.place >= 0 && !layout.verdict.ok()) return no_picture(layout.verdict);
  }
  const bool drawn =
      layout.verdict.ok()
          ? !about.has_extents || cuts_alike(mesh, shown.placements, layout.layout, about.extents)
          : !(layout.verdict.reason == strided_otherwise);
  if (drawn) return picture_of_layout(layout, about.on, about, uneven{});
  shown.form = sharding_picture::as_placements;
  shown.on = about.on;
  shown.is_sized = about.has_extents;
  for (int d = 0; d < rank; ++d) {
    const index_t pieces = piece_count(mesh, shown.placements, d);
    if (pieces > most_pieces)
      return no_picture({0, "a picture of strided shards has at most 4096 pieces"});
    shown.tensor.extents.push_back(about.has_extents ? about.extents[d] : pieces);
  }
  return shown;
}

}  // namespace detail

/// Reads the text of one sharding in any notation, for a picture: HLO with listed, ordered or named
/// devices, Shardy, a partition spec or a type as printed by JAX, the library's own notation, or
/// DTensor's placements. The last five need the mesh of their names, unless a Shardy text contains
/// it.
///
/// The buffer must have room for every device twice if devices are listed; the picture refers to
/// it.
[[nodiscard]] constexpr sharding_picture read_picture(text_view words,
                                                      const sharding_context& about,
                                                      device_buffer& buffer) noexcept {
  if (about.has_mesh)
    if (const text_view reason = why_not(about.on.mesh, about.on.devices); !reason.empty())
      return detail::no_picture({0, reason});
  if (!detail::is_countable(about.extents))
    return detail::no_picture({0, "extents are at least 0, all elements at most 2^56"});
  const mesh_desc& mesh = about.on.mesh;
  const int rank = about.has_extents ? about.extents.ssize() : -1;
  text_reader in(words);
  const char first = in.peek();
  if (first == '#' || first == '<')
    return detail::picture_of_names(parse_sdy(words, about.on, {}, buffer), about, buffer);
  const bool braced = in.accept('{');
  const text_view word = in.word();
  if (braced && (word == "mesh" || word == "maximal_mesh"))
    return detail::picture_of_names(parse_hlo_named(words, buffer), about, buffer);
  if (braced || first == '\0' || word == "devices" || word == "replicated" || word == "maximal" ||
      word == "manual" || word == "unknown" || word == "unreduced")
    return detail::picture_of_tiles(parse_hlo(words, buffer), about, buffer);

  if (!word.empty() && in.peek() == '[') {
    const read_tensor read = parse_type(words, mesh, uneven{});
    if (!read.verdict.ok()) return detail::no_picture(read.verdict);
    if (!detail::is_countable(read.tensor.extents))
      return detail::no_picture({0, "extents are at least 0, all elements at most 2^56"});
    sharding_picture shown =
        detail::picture_of_layout({read.tensor.layout, {}}, about.on, {}, uneven{});
    shown.tensor = read.tensor;
    shown.is_sized = shown.is_typed = true;
    return shown;
  }
  const read_layout spec = parse_partition_spec(words, mesh, rank);
  if (spec.verdict.ok()) return detail::picture_of_layout(spec, about.on, about, single_cut{});
  const read_placements placed = parse_placements(words);
  if (placed.verdict.ok() && !about.has_mesh)
    return detail::no_picture({0, "placements are those of a mesh"});
  if (placed.verdict.ok()) return detail::picture_of_placements(placed.placements, about);
  return detail::no_picture(internal::spec_or_placements(words, spec.verdict, placed.verdict));
}

/// Reads every sharding of a text, several for a tuple or `#sdy.sharding_per_value<[..]>`: calls
/// `each(element, picture)`, and stops at the first invalid one.
template <class F>
constexpr parse_verdict for_each_picture(text_view words, const sharding_context& about,
                                         device_buffer& buffer, F&& each) {
  const auto read = [&](text_view element) {
    device_buffer room = buffer;
    const sharding_picture shown = read_picture(element, about, room);
    if (shown.verdict.ok()) each(element, shown);
    return shown.verdict;
  };
  if (is_hlo_tuple(words)) return parse_hlo_tuple(words, read);
  if (text_reader(words).accept("#sdy.sharding_per_value"))
    return parse_sdy_values(words, -1, read);
  return read(words);
}

}  // namespace shardwise
