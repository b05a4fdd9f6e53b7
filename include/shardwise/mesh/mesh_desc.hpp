// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/diagnosis.hpp"
#include "shardwise/core/inplace_vector.hpp"
#include "shardwise/mesh/device_order.hpp"

namespace shardwise {

/// The highest number of axes of a mesh.
inline constexpr int max_axes = 7;

/// Numbers of axes of a mesh; the order matters: major to minor.
using axis_list = inplace_vector<std::uint8_t, max_axes>;

/// One axis of a mesh as a value: its name and its size (`dyn` if not known yet).
struct axis_desc {
  short_name label{};
  index_t size = 1;

  friend constexpr bool operator==(const axis_desc&, const axis_desc&) = default;
};

/// Where a device is: its position along each axis of its mesh.
using coordinates = inplace_vector<index_t, max_axes>;

/// A mesh as a value: named axes, the first one major. Positions are numbered row-major, so the
/// last axis varies fastest. Device `i` is at position `i` unless the mesh has an explicit order.
///
///     constexpr mesh_desc pod{{axis_desc{"data", 2}, axis_desc{"model", 4}}};
///     static_assert(pod.devices() == 8);
struct mesh_desc {
  inplace_vector<axis_desc, max_axes> axes{};
  device_order order{};

  [[nodiscard]] constexpr int rank() const noexcept { return axes.ssize(); }
  [[nodiscard]] constexpr index_t size(int axis) const noexcept { return axes[axis].size; }

  /// Returns the number of the axis with this name, or -1.
  [[nodiscard]] constexpr int find(text_view label) const noexcept {
    for (int a = 0; a < rank(); ++a)
      if (text_view(axes[a].label) == label) return a;
    return -1;
  }

  /// Returns the number of devices, or `dyn` if the size of an axis is not known.
  [[nodiscard]] constexpr index_t devices() const noexcept {
    index_t n = 1;
    for (const axis_desc& axis : axes) {
      if (axis.size == dyn) return dyn;
      n *= axis.size;
    }
    return n;
  }

  /// Returns the number of shards along these axes together, or `dyn`.
  [[nodiscard]] constexpr index_t parts(const axis_list& split) const noexcept {
    index_t n = 1;
    for (int i = 0; i < split.ssize(); ++i) {
      const index_t k = axes[split[i]].size;
      if (k == dyn) return dyn;
      n *= k;
    }
    return n;
  }

  /// Returns the coordinates of a device, `0 <= device < devices()`.
  [[nodiscard]] constexpr coordinates at(index_t device) const noexcept {
    device = order.find(device);
    coordinates where;
    where.resize(axes.size());
    for (int a = rank() - 1; a >= 0; --a) {
      where[a] = device % size(a);
      device /= size(a);
    }
    return where;
  }

  /// Returns the device at these coordinates.
  [[nodiscard]] constexpr index_t device(const coordinates& where) const noexcept {
    index_t number = 0;
    for (int a = 0; a < rank(); ++a) number = number * size(a) + where[a];
    return order.at(number);
  }

  friend constexpr bool operator==(const mesh_desc&, const mesh_desc&) = default;
};

/// Returns true if these characters may name an axis: letters, digits and `_`, not starting with a
/// digit.
[[nodiscard]] constexpr bool is_axis_name(text_view label) noexcept {
  if (label.empty() || label.size() > short_name::capacity) return false;
  for (std::size_t i = 0; i < label.size(); ++i) {
    const char c = label[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && !(i > 0 && c >= '0' && c <= '9')) return false;
  }
  return true;
}

/// The highest number of devices of a mesh.
inline constexpr index_t max_devices = index_t{1} << 30U;

/// Checks a mesh: names are well formed and distinct, sizes are positive or `dyn`, there are not
/// too many devices, and an explicit order has as many devices as the mesh.
[[nodiscard]] constexpr diagnosis validate(const mesh_desc& mesh) noexcept {
  for (int a = 0; a < mesh.rank(); ++a) {
    const axis_desc& axis = mesh.axes[a];
    if (!is_axis_name(axis.label) || axis.label.is_cut())
      return {.rule = violation::axis_name_is_malformed, .axis = axis.label};
    if (axis.size < 1 && axis.size != dyn)
      return {.rule = violation::axis_size_is_not_positive,
              .axis = axis.label,
              .have = axis.size,
              .want = 1};
    if (mesh.find(axis.label) != a)
      return {.rule = violation::axis_is_repeated_in_mesh, .axis = axis.label};
  }
  index_t devices = 1;
  for (const axis_desc& axis : mesh.axes) {
    if (axis.size > max_devices / devices)
      return {.rule = violation::mesh_has_too_many_devices,
              .axis = axis.label,
              .have = axis.size,
              .want = max_devices / devices + 1};
    if (axis.size != dyn) devices *= axis.size;
  }
  if (!mesh.order.empty() && mesh.order.devices().ssize() != mesh.devices())
    return {.rule = violation::device_count_differs,
            .have = mesh.order.devices().ssize(),
            .want = mesh.devices()};
  return {};
}

/// Also checks that every size is known, as a program needs before it runs on the mesh.
[[nodiscard]] constexpr diagnosis check_known(const mesh_desc& mesh) noexcept {
  if (const diagnosis verdict = validate(mesh); !verdict.ok()) return verdict;
  for (const axis_desc& axis : mesh.axes)
    if (axis.size == dyn) return {.rule = violation::mesh_size_is_unknown, .axis = axis.label};
  return {};
}

namespace internal {
/// Checks that the mesh of a pool is the one that a type requires: the same axes, with the same
/// static sizes, and the same devices in the same order.
[[nodiscard]] constexpr diagnosis check_pool(const mesh_desc& pool,
                                             const mesh_desc& wanted) noexcept {
  bool alike = pool.rank() == wanted.rank();
  bool known = true;
  for (int a = 0; a < wanted.rank(); ++a) {
    known = known && wanted.size(a) != dyn;
    alike = alike && pool.axes[a].label == wanted.axes[a].label;
    if (alike && wanted.size(a) != dyn && pool.size(a) != wanted.size(a))
      return {.rule = violation::pool_size_differs,
              .axis = wanted.axes[a].label,
              .have = pool.size(a),
              .want = wanted.size(a)};
  }
  if (!alike && known && pool.devices() != wanted.devices())
    return {.rule = violation::pool_size_differs, .have = pool.devices(), .want = wanted.devices()};
  if (!alike) return {.rule = violation::pool_size_differs};
  if (pool.order == wanted.order) return {};
  return {.rule = violation::device_order_differs};
}

/// Writes a mesh in the notation of the library, with at most `most` devices of its explicit order.
template <std::size_t N>
constexpr bounded_text<N>& write_mesh(bounded_text<N>& out, const mesh_desc& mesh,
                                      index_t most) noexcept {
  out << "mesh(";
  for (int a = 0; a < mesh.rank(); ++a) {
    if (a > 0) out << ", ";
    out << mesh.axes[a].label << '=';
    if (mesh.size(a) == dyn)
      out << '?';
    else
      out << mesh.size(a);
  }
  out << ')';
  if (mesh.order.empty()) return out;
  const index_t count = mesh.order.devices().ssize();
  for (index_t i = 0; i < count && i < most; ++i) out << (i == 0 ? '[' : ',') << mesh.order.at(i);
  return out << (count > most ? ",...]" : "]");
}
}  // namespace internal

/// Writes a mesh in the notation of the library: `mesh(data=2, model=4)`; an unknown size is `?`.
/// An explicit order follows, at most its first 16 devices: `mesh(x=2, y=2)[3,1,2,0]`.
template <std::size_t N>
constexpr bounded_text<N>& operator<<(bounded_text<N>& out, const mesh_desc& mesh) noexcept {
  return internal::write_mesh(out, mesh, 16);
}

}  // namespace shardwise
