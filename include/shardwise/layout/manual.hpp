// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/layout/layout_rules.hpp"
#include "shardwise/layout/single_cut.hpp"
#include "shardwise/layout/tensor_desc.hpp"

#include <bit>

namespace shardwise {

/// The result of entering or leaving manual sharding, or the diagnosis that rejects it.
struct manual_result {
  tensor_desc tensor{};
  diagnosis verdict{};
};

namespace internal {
/// Refuses halos, which a manual shard does not have.
[[nodiscard]] constexpr diagnosis refuse_halos(const mesh_desc& mesh,
                                               const layout_desc& layout) noexcept {
  for (int d = 0; d < layout.rank(); ++d)
    if (layout.grains[d].is_halo())
      return {.rule = violation::dimension_is_split,
              .operand = 0,
              .dim = d,
              .axis = mesh.axes[layout.dims[d].back()].label};
  return {};
}
}  // namespace internal

/// Returns the tensor that each device sees under manual sharding. Its extents are those of one
/// shard, no dimension is split, and the axes that split it are manual. A tensor that is not split
/// is unchanged.
///
/// Checks that every split extent is divisible, so that all shards are equal, that there are no
/// halos, and that nothing is pending.
///
///     // f32[512@data, 64] on mesh(data=2, model=4): f32[256, 64]{manual: data}
[[nodiscard]] constexpr manual_result to_manual(const mesh_desc& mesh,
                                                const tensor_desc& tensor) noexcept {
  manual_result result{tensor, {}};
  layout_desc& layout = result.tensor.layout;
  layout.follow(exact{});
  result.verdict = internal::refuse_halos(mesh, layout);
  if (result.verdict.ok()) result.verdict = validate(mesh, layout, tensor.extents);
  for (int a = mesh.rank() - 1; a >= 0; --a)
    if (result.verdict.ok() && layout.is_pending(a))
      result.verdict = {.rule = violation::manual_axis_is_used, .axis = mesh.axes[a].label};
  if (!result.verdict.ok()) return result;
  for (int d = 0; d < layout.rank(); ++d) {
    const index_t parts = mesh.parts(layout.dims[d]);
    index_t& extent = result.tensor.extents[d];
    if (parts != 1) extent = extent == dyn || parts == dyn ? dyn : extent / parts;
    for (std::uint8_t a : layout.dims[d])
      layout.manual = static_cast<std::uint8_t>(layout.manual | 1U << a);
    layout.unsplit(d);
  }
  return result;
}

/// Returns the tensor after manual sharding. The shards along the manual axes are joined as
/// `target` splits them, and the extents grow accordingly.
///
/// Checks that `target` splits every dimension as the tensor does, with any further axes major to
/// those; that every manual axis is one of these further axes; and that nothing is pending. If
/// there are manual axes, further axes that are not manual repeat the value that their devices
/// share; without manual axes nothing is joined.
///
///     // f32[256, 64]{manual: data} as P<"data", none>: f32[512@data, 64]
[[nodiscard]] constexpr manual_result from_manual(const mesh_desc& mesh, const tensor_desc& tensor,
                                                  const layout_desc& target) noexcept {
  manual_result result{tensor, {}};
  if (target.rank() != tensor.rank()) {
    result.verdict = {
        .rule = violation::rank_differs_from_spec, .have = target.rank(), .want = tensor.rank()};
    return result;
  }
  result.tensor.layout = target;
  result.verdict = internal::refuse_halos(mesh, tensor.layout);
  if (result.verdict.ok()) result.verdict = internal::refuse_halos(mesh, target);
  if (!result.verdict.ok()) return result;
  unsigned joined = 0;
  for (int d = 0; d < target.rank(); ++d) {
    const axis_list& inner = tensor.layout.dims[d];
    axis_list outer;
    for (int i = 0; i < target.dims[d].ssize() - inner.ssize(); ++i) {
      outer.push_back(target.dims[d][i]);
      joined |= 1U << target.dims[d][i];
    }
    axis_list again = outer;
    for (std::uint8_t a : inner) again.push_back(a);
    const index_t parts = mesh.parts(outer);
    index_t& extent = result.tensor.extents[d];
    result.verdict = check_joined(d, extent, parts);
    if (!result.verdict.ok()) return result;
    if (parts != 1) extent = extent == dyn || parts == dyn ? dyn : extent * parts;
    // A dimension that is block-cyclic inside cannot be split into contiguous parts outside.
    const grain how = said_by_axis(mesh, inner, tensor.layout.grains[d], tensor.extents[d]);
    const grain wanted = said_by_axis(mesh, again, target.grains[d], extent);
    const bool fits = inner.empty() || (how == wanted && (outer.empty() || how.is_contiguous()));
    if (again != target.dims[d] || !fits) {
      result.verdict = {.rule = violation::operand_layouts_conflict,
                        .operand = 0,
                        .dim = d,
                        .axis = mesh.axes[inner.back()].label};
      return result;
    }
  }
  for (int a = mesh.rank() - 1; a >= 0; --a) {
    const bool manual = (tensor.layout.manual >> a & 1U) != 0;
    const bool stays = manual && (joined >> a & 1U) == 0;
    if (stays || tensor.layout.is_pending(a) || target.is_pending(a) ||
        (target.manual >> a & 1U) != 0)
      result.verdict = {.rule = violation::manual_axis_is_left, .axis = mesh.axes[a].label};
  }
  if (result.verdict.ok() && tensor.layout.manual == 0 && joined != 0)
    result.verdict = {.rule = violation::axis_is_not_manual,
                      .axis = mesh.axes[std::countr_zero(joined)].label};
  if (result.verdict.ok()) result.verdict = validate(mesh, target, result.tensor.extents);
  return result;
}

}  // namespace shardwise
