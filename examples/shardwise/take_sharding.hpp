// SPDX-License-Identifier: BSL-1.0
// From one form of a sharding to all forms in which it is known.
#pragma once

#include "subject.hpp"
#include <shardwise/notation/hlo_layout.hpp>
#include <shardwise/notation/hlo_named.hpp>

namespace tool {

/// A sharding that has no tiles, and no words in the notations of tiles and of names.
inline void take_no_tiles(subject& about, const std::string& reason) {
  about.named = known<named_sharding>::none(reason);
  about.tiles = about.hlo = known<hlo_sharding>::none(reason);
}

/// A layout as its text means it: where the shape does not divide, it is uneven by this policy.
[[nodiscard]] inline layout_desc judged(const mesh_desc& mesh, layout_desc layout,
                                        const std::optional<extents_desc>& shape,
                                        policy_desc policy) {
  layout_desc exactly = layout;
  exactly.follow(exact{});
  if (!shape || validate(mesh, exactly, *shape).ok()) return exactly;
  layout.follow(policy);
  return layout;
}

/// The other forms of a layout on the subject's mesh.
[[nodiscard]] inline objection take_layout(subject& about, const layout_desc& given,
                                           device_buffer& buffer) {
  const layout_desc layout = about.shape ? in_single_cuts(*about.mesh, given, *about.shape) : given;
  about.layout = layout;
  about.named = to_named(*about.mesh, layout, about.devices);
  for (const named_dim& dim : about.named->dims)
    if (const text_view reason = why_not(dim); !reason.empty()) {
      take_no_tiles(about, str(reason));
      return std::nullopt;
    }
  named_sharding summed = *about.named;
  summed.kind = reduction::sum;
  const hlo_result tiles = to_hlo(summed, buffer);
  if (!tiles.verdict.ok()) return unread("sharding_has_no_tiles", tiles.verdict);
  about.tiles = tiles.sharding;
  if (about.named->kind == reduction::sum)
    about.hlo = about.tiles;
  else
    about.hlo = known<hlo_sharding>::none("tiles are unreduced by a sum");
  about.is_spec = layout.pending == 0 && layout.manual == 0;
  return std::nullopt;
}

/// A layout that was read, for the extents of the tensor.
[[nodiscard]] inline objection take_read_layout(subject& about, const layout_desc& read,
                                                policy_desc policy, device_buffer& buffer) {
  layout_desc layout = read;
  layout.follow(uneven{});
  if (about.shape)
    if (auto no = judge(validate(*about.mesh, layout, *about.shape))) {
      if (about.shape->ssize() != layout.rank()) no->rank = layout.rank();
      return no;
    }
  layout = judged(*about.mesh, layout, about.shape, policy);
  if (auto no = take_layout(about, layout, buffer)) return no;
  if (!about.tiles) about.cut = mesh_cut{{}, layout};
  return std::nullopt;
}

/// The layout of those dimensions whose placements are one; refuses what is no order of axes.
[[nodiscard]] inline outcome<layout_desc> layout_by_dimension(const mesh_desc& mesh,
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
      return refusal("placements_do_not_fit", str(read.verdict.reason));
    }
  }
  return layout;
}

/// Placements for a tensor whose rank is that of the shape, or the least that they name.
[[nodiscard]] inline objection take_placements(subject& about, const read_placements& read,
                                               device_buffer& buffer) {
  int rank = about.shape ? about.shape->ssize() : 0;
  if (!about.shape)
    for (const dtensor_placement& one : read.placements) {
      const bool splits =
          one.kind == dtensor_placement::shard || one.kind == dtensor_placement::strided;
      if (splits && one.dim < 0)
        return refusal("option_is_missing", "a dimension from the end needs --shape");
      if (splits && one.dim >= max_rank)
        return refusal("rank_is_too_high", "a tensor has at most 8 dimensions");
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
    return refusal("placements_do_not_fit", str(layout.verdict.reason));
  const auto by_dimension = layout_by_dimension(*about.mesh, cut.placements, rank);
  if (!by_dimension) return by_dimension.why();
  cut.layout = *by_dimension;
  about.layout = known<layout_desc>::none(str(layout.verdict.reason));
  take_no_tiles(about, about.layout.why_not);
  return std::nullopt;
}

/// A sharding in the names of a mesh, which has to be the request's if there is one.
[[nodiscard]] inline objection take_named(subject& about, const named_sharding& named,
                                          device_buffer& buffer) {
  if (named.on.mesh.devices() > most_devices)
    return refusal("mesh_is_too_large",
                   "a mesh has at most " + std::to_string(most_devices) + " devices here");
  const bool same = !about.mesh || (!named.on.maximal() && *about.mesh == named.on.mesh &&
                                    same_devices(about.devices, named.on.devices));
  if (!same || (!about.mesh && !about.devices.empty()))
    return refusal("meshes_differ", "the sharding has a mesh of its own, and it is another one");
  const bool listed = named.whole == named_sharding::listed && !named.on.maximal();
  if (listed)
    if (auto no = require_rank(about, named.rank())) return no;
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
  if (!tiles.verdict.ok()) return unread("sharding_has_no_tiles", tiles.verdict);
  about.tiles = tiles.sharding;
  if (named.kind == reduction::sum)
    about.hlo = about.tiles;
  else
    about.hlo = known<hlo_sharding>::none("tiles are unreduced by a sum");
  return std::nullopt;
}

/// An HLO sharding with listed or ordered devices; with a mesh also the layout on it, if any.
[[nodiscard]] inline objection take_hlo(subject& about, std::string_view words,
                                        device_buffer& buffer) {
  const hlo_result read = parse_hlo(text_view(words), buffer);
  if (!read.verdict.ok()) return unread("hlo_is_malformed", read.verdict);
  const hlo_sharding& hlo = read.sharding;
  const bool tiled = hlo.kind == hlo_kind::tiled;
  if (tiled && hlo.tiles.count() > most_devices)
    return refusal("too_many_devices",
                   "at most " + std::to_string(most_devices) + " devices are listed");
  if (tiled)
    if (auto no = require_rank(about, hlo.rank())) return no;
  about.tiles = hlo;
  about.hlo = hlo;
  // These two need no mesh: one device, and everything everywhere.
  if (hlo.kind == hlo_kind::maximal) about.named = named_sharding{.on = {.device = hlo.device}};
  if (hlo.kind == hlo_kind::replicated)
    about.named = named_sharding{.whole = named_sharding::replicated_whole};
  if (!about.mesh) {
    if (!about.devices.empty() && (tiled || hlo.kind == hlo_kind::maximal))
      return refusal("option_does_not_apply",
                     "the sharding lists its devices; --devices is the order of a --mesh");
    return std::nullopt;
  }
  const mesh_desc& mesh = *about.mesh;
  if (tiled && hlo.tiles.count() != mesh.devices())
    return refusal("device_count_differs", "the tiles of the sharding must match mesh size: " +
                                               std::to_string(hlo.tiles.count()) + " where " +
                                               std::to_string(mesh.devices()) + " are needed");
  if (hlo.kind == hlo_kind::maximal && hlo.device >= mesh.devices())
    return *judge(
        {.rule = violation::device_is_out_of_range, .have = hlo.device, .want = mesh.devices()});
  const int rank = tiled ? hlo.rank() : about.shape ? about.shape->ssize() : 0;
  const read_layout layout = to_layout(hlo, mesh, rank, buffer, about.devices);
  if (layout.verdict.ok())
    about.layout = judged(mesh, layout.layout, about.shape, single_cut{});
  else
    about.layout = known<layout_desc>::none(str(layout.verdict.reason));
  if (hlo.kind == hlo_kind::maximal) return std::nullopt;
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
  return std::nullopt;
}

/// One HLO sharding, not a tuple, in either form.
[[nodiscard]] inline objection take_any_hlo(subject& about, std::string_view words,
                                            device_buffer& buffer) {
  text_reader in{text_view(words)};
  in.accept('{');
  const text_view word = in.word();
  if (!(word == "mesh" || word == "maximal_mesh")) return take_hlo(about, words, buffer);
  const named_result read = parse_hlo_named(text_view(words), buffer);
  if (!read.verdict.ok()) return unread("hlo_is_malformed", read.verdict);
  return take_named(about, read.sharding, buffer);
}

}  // namespace tool
