// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/device_ring.hpp"
#include "shardwise/mesh/torus_split.hpp"

namespace shardwise {

/// What a mesh is made for, and how it may be laid out. The defaults are those of PyTorch/XLA.
struct mesh_options {
  /// Selects the kind of machine: small machines of some kinds use rings, and on some kinds cores
  /// are devices.
  device_kind kind = device_kind::any;
  /// Logical axes may share a physical axis if whole axes do not suffice.
  bool allow_split_physical_axes = false;
  /// The devices of a host must be contiguous in the mesh, or the mesh is rejected.
  bool contiguous_submeshes = false;
  /// What to prefer where physical axes are split.
  sharing preference = sharing::taken_axes_first;
};

/// How the devices of one slice are laid out: the grid, and either a ring or an assignment of axes.
struct slice_plan {
  topology_verdict verdict{};
  device_grid grid{};
  torus_assignment assignment{};
  device_ring ring{};

  [[nodiscard]] constexpr bool ok() const noexcept { return verdict.ok(); }

  /// Returns true if the other plan lays its slice out the same way.
  [[nodiscard]] constexpr bool is_like(const slice_plan& other) const noexcept {
    return assignment == other.assignment && ring == other.ring;
  }

  /// Returns the position of a device in the mesh of shape `ici` of its slice; `listed` devices
  /// come earlier in the list of the slice.
  [[nodiscard]] constexpr mesh_shape place_of(const device_attributes& device, index_t listed,
                                              const mesh_shape& ici) const noexcept {
    mesh_shape place;
    place.resize(ici.size());
    if (ring.exists()) {
      index_t rest = ring.position(ring.number_of(grid, device, listed));
      for (int l = ici.ssize() - 1; l >= 0; --l) {
        place[l] = rest % ici[l];
        rest /= ici[l];
      }
      return place;
    }
    index_t at[max_physical_axes]{};
    for (int p = 0; p < grid.shape.ssize(); ++p) at[p] = grid.at(device, p);
    for (int l = 0; l < ici.ssize(); ++l) place[l] = assignment.position(l, at);
    return place;
  }
};

/// Chooses how the devices of a grid are laid out as a mesh of shape `ici`.
[[nodiscard]] constexpr slice_plan choose_plan(const grid_answer& filled, const mesh_shape& ici,
                                               const mesh_options& options) noexcept {
  slice_plan plan{filled.verdict, filled.grid};
  if (!plan.ok()) return plan;
  plan.ring = ring_of(options.kind, plan.grid, ici);
  if (plan.ring.exists()) return plan;
  torus_search search;
  search.cores_first = options.kind == device_kind::tpu_v7x;
  if (options.contiguous_submeshes) {
    const contiguous_answer contiguous = contiguous_order(plan.grid.shape, ici);
    plan.verdict = contiguous.verdict;
    search.order = contiguous.order;
    if (!plan.ok()) return plan;
  }
  assignment_answer found = assign_whole_axes(plan.grid.shape, ici, search);
  if (found.verdict.rule == topology_rule::axis_has_no_match && options.allow_split_physical_axes)
    found = assign_split_axes(plan.grid.shape, ici, search.order, options.preference);
  plan.verdict = found.verdict;
  plan.assignment = found.assignment;
  return plan;
}

/// Checks the devices of a slice and chooses how they are laid out. `memory` is scratch space with
/// one number for each device of the slice.
[[nodiscard]] constexpr slice_plan plan_slice(device_list devices, index_t slice,
                                              const mesh_shape& ici, list_view<index_t> memory,
                                              const mesh_options& options = {}) noexcept {
  index_t have = 0;
  for (const device_attributes& device : devices) have += device.is_in(slice) ? 1 : 0;
  const index_t want = bounded_product(ici, index_t{1} << 30);
  if (have != want)
    return {
        {.rule = topology_rule::device_count_differs, .have = have, .want = want, .shape = ici}};
  return choose_plan(grid_of(devices, memory, slice, options.kind), ici, options);
}

}  // namespace shardwise
