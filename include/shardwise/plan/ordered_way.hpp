// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/plan/detour.hpp"

namespace shardwise::detail {

// A way may gather an axis early because its target wants another one before it, and hold shards
// that neither end has. An ordered way makes the axes that leave a dimension its minor ones, brings
// them to their dimensions in whichever order they arrive, orders them there, and gathers the axes
// that the target does not use last.

/// The layouts on an ordered way: before axes leave, after they have arrived, and in the order of
/// the target. The last two keep the axes that the target does not use, behind its own in the last
/// one.
struct ordered_stops {
  layout_desc leaving{};
  layout_desc arrived{};
  layout_desc ordered{};
};

/// Returns the stops of an ordered way that slices before other axes arrive, or afterwards, with or
/// without a permutation of the source. Returns false if parts would not be even.
[[nodiscard]] constexpr bool find_stops(const mesh_desc& mesh, const tensor_desc& tensor,
                                        const layout_desc& target, bool permutes, bool slices_first,
                                        ordered_stops& stops) noexcept {
  stops = {tensor.layout, target, target};
  for (int d = 0; d < target.rank(); ++d) {
    if (!tensor.layout.grains[d].is_contiguous() || !target.grains[d].is_contiguous()) return false;
    if (!permutes) continue;
    // Those that stay, then those of each destination.
    axis_list& leaving = stops.leaving.dims[d];
    leaving.clear();
    for (int to = -1; to < target.rank(); ++to)
      for (std::uint8_t a : tensor.layout.dims[d]) {
        const int wanted = target.dim_of(a);
        if (to == (wanted == d ? -1 : wanted)) leaving.push_back(a);
      }
  }
  const layout_desc& source = stops.leaving;
  for (int d = 0; d < target.rank(); ++d) {
    axis_list& arrived = stops.arrived.dims[d];
    arrived.clear();
    for (std::uint8_t a : source.dims[d]) {
      const bool is_kept = target.dim_of(a) < 0;
      if (is_kept || target.dim_of(a) == d) arrived.push_back(a);
      if (is_kept) stops.ordered.dims[d].push_back(a);
    }
    for (const bool slices : {slices_first, !slices_first}) {
      if (slices) {
        for (std::uint8_t a : target.dims[d])
          if (source.dim_of(a) < 0) arrived.push_back(a);
        continue;
      }
      for (int from = 0; from < source.rank(); ++from)
        for (std::uint8_t a : source.dims[from])
          if (from != d && target.dim_of(a) == d) arrived.push_back(a);
    }
    if (tensor.extents[d] % mesh.parts(arrived) != 0) return false;
  }
  return true;
}

/// Returns the most elements that a device holds after a collective of a way.
[[nodiscard]] constexpr index_t most_held(const mesh_desc& mesh, const extents_desc& extents,
                                          const redistribution& way) noexcept {
  index_t most = 0;
  for (const planned_transfer& move : way.moves) {
    const index_t held = largest_shard_size(mesh, move.after, extents);
    if (held > most) most = held;
  }
  return most;
}

/// Replaces a way on which a device holds more than at both ends by an ordered one, if a device
/// then holds less and nothing more is received.
constexpr void keep_within_ends(const mesh_desc& mesh, const tensor_desc& tensor,
                                const layout_desc& target, redistribution& way) noexcept {
  // One collective leads from one end to the other.
  if (way.moves.size() < 2 || tensor.layout.uneven) return;
  const index_t source_size = largest_shard_size(mesh, tensor.layout, tensor.extents),
                target_size = largest_shard_size(mesh, target, tensor.extents);
  const index_t larger = source_size < target_size ? target_size : source_size;
  index_t held = most_held(mesh, tensor.extents, way);
  for (int kind = 0; kind < 4 && held > larger; ++kind) {
    ordered_stops stops;
    if (!find_stops(mesh, tensor, target, kind >= 2, kind % 2 == 0, stops)) continue;
    redistribution other;
    const auto permute = [&](const layout_desc& before, const layout_desc& after) {
      if (is_shard_permutation(mesh, tensor.extents, before, after))
        append_move(mesh, tensor, other,
                    {.kind = collective::collective_permute,
                     .axes = shard_permutation(mesh, before, after).axes(),
                     .after = after});
    };
    permute(tensor.layout, stops.leaving);
    append_direct_way(mesh, tensor, other, stops.arrived);
    permute(stops.arrived, stops.ordered);
    append_direct_way(mesh, tensor, other, target);
    const index_t other_held = most_held(mesh, tensor.extents, other);
    if (other.moves.full() || other_held >= held || other.total_bytes() > way.total_bytes())
      continue;
    held = other_held;
    way = other;
  }
}

}  // namespace shardwise::detail
