// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/config.hpp"
#include "shardwise/plan/ordered_way.hpp"

#include <type_traits>

namespace shardwise {

namespace detail {

/// Plans the redistribution from one layout to another of a tensor for which both are valid; single
/// cuts are treated as cuts axis by axis if these extents are cut alike.
[[nodiscard]] constexpr redistribution plan_way(const mesh_desc& mesh, tensor_desc tensor,
                                                const layout_desc& to) noexcept {
  // If source or target may be uneven, so may the layouts in between.
  tensor.layout.uneven = tensor.layout.uneven || to.uneven;
  redistribution way;
  append_direct_way(mesh, tensor, way, to);
  if (!is_known(mesh, tensor.extents) || element_count(tensor.extents) == 0 ||
      tensor.layout.has_halo() || to.has_halo())
    return way;
  // Each round inserts one detour, and searches for the next one after it.
  detour_search search(mesh, tensor, to);
  for (int kept = 0; may_be_shortened(way, kept) && search.shorten(way, kept);) {
  }
  keep_within_ends(mesh, tensor, to, way);
  return way;
}

/// Plans the redistribution of a tensor, unless it is invalid.
[[nodiscard]] constexpr redistribution plan_redistribution(const mesh_desc& mesh,
                                                           const tensor_desc& tensor,
                                                           const layout_desc& target) noexcept {
  redistribution way;
  way.verdict = validate(mesh, target);
  if (way.verdict.ok()) way.verdict = validate(mesh, target, tensor.extents);
  if (way.verdict.ok()) way.verdict = check_reshard(mesh, tensor.layout, target);
  if (!way.verdict.ok()) return way;

  tensor_desc source = tensor;
  source.layout = said_by_axis(mesh, tensor.layout, tensor.extents);
  way = plan_way(mesh, source, said_by_axis(mesh, target, tensor.extents));
  if (!way.moves.empty()) {
    layout_desc& after = way.moves[way.moves.size() - 1].after;
    after.uneven = target.uneven;
    for (int d = 0; d < target.rank(); ++d)
      if (!(after.grains[d] == target.grains[d])) after.grains[d] = target.grains[d];
  }
  return way;
}
/// The version that is called at run time; the compiled library contains it.
[[nodiscard]] redistribution plan_redistribution_now(const mesh_desc& mesh,
                                                     const tensor_desc& tensor,
                                                     const layout_desc& target) noexcept;

}  // namespace detail

/// Plans the redistribution of a tensor from its layout to another: slices, reduce-scatters and
/// all-to-alls first, each over as many axes as it can; then remaining pending reductions, while
/// shards are small; gathers last. A permutation of shards, or an exchange with another dimension,
/// makes room for an axis where that costs less than to gather another first. Between a single cut
/// and a cut axis by axis, nothing moves if these extents are cut alike.
///
/// If extents are divisible by all axes, no device holds more than the larger of source and target,
/// except in some exchanges of axes between two dimensions, where it may be twice as much (39 of
/// two million random cases).
///
///     constexpr auto way = redistribute(pod::value, y, target);
///     static_assert(way.moves.size() == 1 && way.moves[0].kind == collective::all_reduce);
[[nodiscard]] constexpr redistribution redistribute(const mesh_desc& mesh,
                                                    const tensor_desc& tensor,
                                                    const layout_desc& target) noexcept {
  if constexpr (build_config::compiled) {
    if (!std::is_constant_evaluated()) return detail::plan_redistribution_now(mesh, tensor, target);
  }
  return detail::plan_redistribution(mesh, tensor, target);
}

}  // namespace shardwise
