// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/slice_plan.hpp"

namespace shardwise {

/// The result of laying out a mesh: its shape, and how the devices of each slice were arranged.
struct placed_mesh {
  topology_verdict verdict{};
  mesh_shape shape{};
  index_t slices = 1;
  /// The plan of the first slice, and whether all slices have the same one.
  slice_plan plan{};
  bool alike = true;

  [[nodiscard]] constexpr bool ok() const noexcept { return verdict.ok(); }
};

/// Returns the shape of a mesh of slices: the product of both shapes, which have equal ranks, axis
/// by axis.
[[nodiscard]] constexpr mesh_shape hybrid_shape(const mesh_shape& ici,
                                                const mesh_shape& dcn) noexcept {
  mesh_shape shape;
  for (int l = 0; l < ici.ssize(); ++l) shape.push_back(ici[l] * dcn[l]);
  return shape;
}

namespace detail {

/// Returns the number of slices, or the device that has no slice index while others have one.
struct slice_count {
  index_t slices = 1;
  bool numbered = false;
  const device_attributes* without = nullptr;
};

/// Returns the smallest slice index above `last`, or -1.
[[nodiscard]] constexpr index_t next_slice(device_list devices, index_t last) noexcept {
  index_t next = -1;
  for (const device_attributes& device : devices)
    if (device.slice_index > last && (next < 0 || device.slice_index < next))
      next = device.slice_index;
  return next;
}

[[nodiscard]] constexpr slice_count count_slices(device_list devices) noexcept {
  slice_count counted;
  for (const device_attributes& device : devices) {
    if (device.slice_index >= 0)
      counted.numbered = true;
    else if (counted.without == nullptr)
      counted.without = &device;
  }
  if (!counted.numbered) return counted;
  counted.slices = 0;
  for (index_t slice = next_slice(devices, -1); slice >= 0; slice = next_slice(devices, slice))
    ++counted.slices;
  return counted;
}

/// Checks everything that does not depend on coordinates: ranks, sizes, slices.
[[nodiscard]] constexpr topology_verdict check_hybrid(const slice_count& counted,
                                                      const device_list& devices,
                                                      const mesh_shape& ici,
                                                      const mesh_shape& dcn) noexcept {
  constexpr index_t most = index_t{1} << 30;
  if (ici.size() != dcn.size())
    return {
        .rule = topology_rule::ici_and_dcn_ranks_differ, .have = dcn.ssize(), .want = ici.ssize()};
  const index_t wanted = bounded_product(dcn, most);
  if (bounded_product(ici, most) < 0)
    return {.rule = topology_rule::shape_is_not_positive, .shape = ici};
  if (wanted < 0) return {.rule = topology_rule::shape_is_not_positive, .shape = dcn};
  if (counted.numbered && counted.without != nullptr)
    return {.rule = topology_rule::slice_index_is_missing, .have = counted.without->id};
  if (counted.slices > 1 && wanted == 1)
    return {.rule = topology_rule::dcn_shape_is_missing, .have = counted.slices, .want = wanted};
  if (!counted.numbered && wanted > 1)
    return {.rule = topology_rule::dcn_shape_needs_slices, .have = 1, .want = wanted, .shape = dcn};
  if (counted.slices != wanted)
    return {.rule = topology_rule::slice_count_differs,
            .have = counted.slices,
            .want = wanted,
            .shape = dcn};
  if (devices.empty())
    return {.rule = topology_rule::device_count_differs,
            .have = 0,
            .want = bounded_product(ici, most),
            .shape = ici};
  return {};
}

/// Writes the devices of a slice into its block of the mesh.
constexpr void place_slice(const slice_plan& plan, index_t block, device_list devices,
                           index_t slice, const mesh_shape& ici, const mesh_shape& dcn,
                           list_view<index_t> order) noexcept {
  mesh_shape corner = dcn;
  for (int l = dcn.ssize() - 1; l >= 0; --l) {
    corner[l] = block % dcn[l] * ici[l];
    block /= dcn[l];
  }
  index_t listed = 0;
  for (index_t i = 0; i < devices.ssize(); ++i) {
    if (!devices[i].is_in(slice)) continue;
    const mesh_shape place = plan.place_of(devices[i], listed++, ici);
    index_t number = 0;
    for (int l = 0; l < ici.ssize(); ++l) number = number * ici[l] * dcn[l] + corner[l] + place[l];
    order[number] = i;
  }
}

}  // namespace detail

/// Makes a mesh from a machine of one or more slices.
///
/// `ici` is the shape inside a slice, where links are fast, and `dcn` the shape over slices; they
/// have one size for each axis, and the mesh has their products. Each slice is laid out
/// independently. The slices, in ascending order of their index, then fill the mesh block by block
/// in row-major order of `dcn`.
///
/// `order` receives, row-major over the mesh, the index of each device in the list; after a failure
/// its content is unspecified. The verdict covers the machine and both shapes.
///
///     index_t order[8];
///     place_hybrid_mesh(devices, {1, 4}, {2, 1}, order);    // two slices of 2x2x1: mesh (2, 4)
[[nodiscard]] constexpr placed_mesh place_hybrid_mesh(device_list devices, const mesh_shape& ici,
                                                      const mesh_shape& dcn,
                                                      list_view<index_t> order,
                                                      const mesh_options& options = {}) noexcept {
  placed_mesh result;
  const detail::slice_count counted = detail::count_slices(devices);
  result.verdict = detail::check_hybrid(counted, devices, ici, dcn);
  if (result.ok() && order.size() < devices.size())
    result.verdict = {
        .rule = topology_rule::order_does_not_fit, .have = order.ssize(), .want = devices.ssize()};
  if (!result.ok()) return result;
  // First check every slice, with `order` as scratch memory; then lay all of them out.
  const index_t first = counted.numbered ? detail::next_slice(devices, -1) : -1;
  index_t slice = first;
  for (index_t s = 0; s < counted.slices; ++s, slice = detail::next_slice(devices, slice)) {
    const slice_plan plan = plan_slice(devices, slice, ici, order, options);
    if (s == 0) result.plan = plan;
    result.alike = result.alike && plan.is_like(result.plan);
    result.verdict = plan.verdict;
    if (!result.ok()) return result;
  }
  slice = first;
  for (index_t s = 0; s < counted.slices; ++s, slice = detail::next_slice(devices, slice)) {
    const slice_plan plan =
        s == 0 ? result.plan : choose_plan(bounds_of(devices, slice, options.kind), ici, options);
    detail::place_slice(plan, s, devices, slice, ici, dcn, order);
  }
  result.shape = hybrid_shape(ici, dcn);
  result.slices = counted.slices;
  return result;
}

/// Makes a mesh from a machine of one slice.
[[nodiscard]] constexpr placed_mesh place_mesh(device_list devices, const mesh_shape& shape,
                                               list_view<index_t> order,
                                               const mesh_options& options = {}) noexcept {
  mesh_shape alone;
  for (int l = 0; l < shape.ssize(); ++l) alone.push_back(1);
  return place_hybrid_mesh(devices, shape, alone, order, options);
}

}  // namespace shardwise
