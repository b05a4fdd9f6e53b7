// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/notation/dtensor_text.hpp"
#include "shardwise/notation/hlo_layout.hpp"
#include "shardwise/notation/hlo_named.hpp"
#include "shardwise/notation/sdy_text.hpp"

namespace shardwise {

/// The notations in which a layout can be written. `hlo_listed` has every device, `hlo_ordered` an
/// order of them where there is one.
enum class notation : std::uint8_t { hlo_listed, hlo_ordered, hlo_named, sdy, jax, dtensor };

/// The number of notations.
inline constexpr int notation_count = 6;

/// Writes a layout in a notation, or nothing where the notation cannot say it: the verdict has the
/// reason. Only DTensor has a word for chunks, and none has one for blocks that are dealt out.
/// Shardy's mesh has the symbol `mesh`, or stands there itself if it has an order of devices;
/// DTensor's placements say the order of axes by places if the mesh does not. The buffer has room
/// for twice the devices where they are listed.
///
///     // rows over "data" of mesh(data=2, model=4), Shardy: #sdy.sharding<@mesh, [{"data"}, {}]>
template <TextSink Out>
constexpr parse_verdict write_layout_as(Out& out, notation form, const mesh_desc& mesh,
                                        const layout_desc& layout, device_buffer& buffer,
                                        device_view devices = {}) {
  layout_desc plain = layout;
  if (form == notation::dtensor)  // the one that has a word for chunks
    for (grain& how : plain.grains) how = {};
  const named_sharding named = to_named(mesh, plain, devices);
  if (const text_view reason = why_not(named); !reason.empty()) return {0, reason};
  switch (form) {
    case notation::hlo_listed:
    case notation::hlo_ordered: {
      hlo_result tiles = to_hlo(named, buffer);
      if (tiles.verdict.ok() && form == notation::hlo_listed)
        tiles = to_list(tiles.sharding, buffer);
      if (!tiles.verdict.ok()) return tiles.verdict;
      write_hlo(out, form == notation::hlo_ordered ? to_iota(tiles.sharding) : tiles.sharding);
      return {};
    }
    case notation::hlo_named:
      write_hlo_named(out, named);
      return {};
    case notation::sdy:
      write_sdy(out, named);
      return {};
    case notation::jax:
      if (layout.manual != 0) return {0, "a partition spec has no manual axes"};
      write_partition_spec(out, mesh, layout);
      return {};
    case notation::dtensor:
      break;
  }
  const read_placements placed = to_placements(mesh, layout, dtensor_form::ordered);
  if (placed.verdict.ok()) write_placements(out, placed.placements);
  return placed.verdict;
}

namespace detail {

/// Why a text is neither a partition spec nor placements: what was read further says it; of two
/// that went as far, the one whose names are quoted or not as in the text.
[[nodiscard]] constexpr parse_verdict spec_or_placements(text_view words, const parse_verdict& spec,
                                                         const parse_verdict& placements) noexcept {
  if (spec.position != placements.position)
    return spec.position > placements.position ? spec : placements;
  for (const char c : words)
    if (c == '\'' || c == '"') return spec;
  return placements;
}

}  // namespace detail

/// Reads a layout for a tensor of this rank on a mesh, in whichever notation it is written: `{..}`
/// is HLO, `#sdy.sharding<..>` or `<..>` Shardy, `P('x', None)` or `('x', None)` a partition spec,
/// and anything else placements.
///
///     parse_layout("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", pod::value, 2, devices);
[[nodiscard]] constexpr read_layout parse_layout(text_view words, const mesh_desc& mesh, int rank,
                                                 device_buffer& buffer,
                                                 device_view devices = {}) noexcept {
  const auto on_this_mesh = [&](const named_result& read) {
    if (!read.verdict.ok()) return read_layout{{}, read.verdict};
    if (read.sharding.on.mesh.axes != mesh.axes)
      return read_layout{{}, {0, "the mesh of a sharding is the mesh of its tensor"}};
    if (!same_devices(read.sharding.on.devices, devices_of(mesh, devices)))
      return read_layout{{}, {0, "the devices of a sharding are the devices of its mesh"}};
    return to_layout(read.sharding, rank);
  };
  reader in(words);
  const char first = in.peek();
  if (first == '#' || first == '<')
    return on_this_mesh(parse_sdy(words, to_named(mesh, devices), {}, buffer));
  if (in.accept('{')) {
    const text_view word = in.word();
    if (word == "mesh" || word == "maximal_mesh")
      return on_this_mesh(parse_hlo_named(words, buffer));
    const hlo_result read = parse_hlo(words, buffer);
    if (!read.verdict.ok()) return {{}, read.verdict};
    return to_layout(read.sharding, mesh, rank, buffer, devices);
  }
  const read_layout spec = parse_partition_spec(words, mesh, rank);
  if (spec.verdict.ok()) return spec;
  const read_placements placed = parse_placements(words);
  if (placed.verdict.ok()) return to_layout(mesh, placed.placements, rank);
  return {{}, detail::spec_or_placements(words, spec.verdict, placed.verdict)};
}

}  // namespace shardwise
