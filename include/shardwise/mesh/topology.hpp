// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/core/fixed_string.hpp"
#include "shardwise/core/index.hpp"
#include "shardwise/core/inplace_vector.hpp"

namespace shardwise {

/// The highest number of axes of a machine: x, y, z, and the cores of a chip.
inline constexpr int max_physical_axes = 4;

/// The sizes of a machine's axes.
using physical_shape = inplace_vector<index_t, max_physical_axes>;

/// Axes of a machine by number, in an order that matters.
using physical_axes = inplace_vector<std::uint8_t, max_physical_axes>;

/// The kind of device of a machine. Small machines of some kinds have an order of their own.
enum class device_kind : unsigned char {
  any,
  tpu_v2,
  tpu_v3,
  tpu_v4,
  tpu_v4i,
  tpu_v5e,
  tpu_v5p,
  tpu_v6e,
  tpu_v7x,
  tpu_v8i,
  gpu,
};

/// How the devices along an axis are connected.
enum class fabric : unsigned char {
  /// Each to its two neighbours, and the last to the first if the axis wraps.
  torus,
  /// All to one switch: one hop between any two.
  switched,
};

/// A communication link, as cost models see it.
struct link_desc {
  /// Latency in seconds.
  double alpha = 0;
  /// Bytes per second of one link in one direction.
  double bytes_per_second = 0;
  /// The number of parallel links.
  int links = 1;

  /// Returns the bytes per second of all links in one direction.
  [[nodiscard]] constexpr double one_way() const noexcept { return links * bytes_per_second; }

  friend constexpr bool operator==(const link_desc&, const link_desc&) = default;
};

/// One axis of a machine: how many devices it connects, and by which link.
struct topology_axis {
  index_t size = 1;
  link_desc way{};
  fabric joined = fabric::torus;
  /// The last device is connected to the first if the size is a multiple of this; 0 for never.
  index_t wrap_multiple = 0;

  /// Returns true if the axis is a ring.
  [[nodiscard]] constexpr bool wraps() const noexcept {
    return joined == fabric::torus && wrap_multiple > 0 && size % wrap_multiple == 0;
  }

  /// Returns the bytes per second of each device in a collective along the whole axis: a ring sends
  /// in both directions, a line and a switch in one.
  [[nodiscard]] constexpr double bytes_per_second() const noexcept {
    return way.one_way() * (wraps() ? 2 : 1);
  }

  /// Returns the number of links that a message takes from one position to another.
  [[nodiscard]] constexpr index_t hops(index_t from, index_t to) const noexcept {
    const index_t apart = from < to ? to - from : from - to;
    if (joined == fabric::switched) return apart > 0 ? 1 : 0;
    return wraps() && size - apart < apart ? size - apart : apart;
  }

  /// Returns the largest number of hops between two positions.
  [[nodiscard]] constexpr index_t diameter() const noexcept {
    if (joined == fabric::switched) return size > 1 ? 1 : 0;
    return wraps() ? size / 2 : size - 1;
  }

  friend constexpr bool operator==(const topology_axis&, const topology_axis&) = default;
};

/// A machine as a value: its axes, its links, and the figures of one device. Figures that the
/// source does not give are 0.
///
///     constexpr topology slice = slice_of(machines::tpu_v4p, {4, 4, 8});
///     static_assert(slice.devices() == 128 && slice.axes[2].wraps());
///     static_assert(slice.bytes_per_second({0, 1}) == 180e9);
struct topology {
  short_name label{};
  device_kind kind = device_kind::any;
  inplace_vector<topology_axis, max_physical_axes> axes{};
  /// The devices that share a host, along the same axes; empty if not known.
  physical_shape host{};
  /// The network between hosts, for each host as a whole.
  link_desc network{};
  /// Between a device and the memory of its host, in bytes per second.
  double host_bytes_per_second = 0;
  double memory_bytes = 0;
  double memory_bytes_per_second = 0;
  double flops_bf16 = 0;
  double flops_8bit = 0;
  double flops_4bit = 0;

  [[nodiscard]] constexpr physical_shape shape() const noexcept {
    physical_shape sizes;
    for (const topology_axis& axis : axes) sizes.push_back(axis.size);
    return sizes;
  }

  [[nodiscard]] constexpr index_t devices() const noexcept {
    index_t n = 1;
    for (const topology_axis& axis : axes) n *= axis.size;
    return n;
  }

  /// Returns the number of devices that share a host; 1 if not known.
  [[nodiscard]] constexpr index_t devices_per_host() const noexcept {
    index_t n = 1;
    for (index_t size : host) n *= size;
    return n;
  }

  /// Returns the bytes per second of each device in a collective over several axes, whose rates add
  /// up.
  [[nodiscard]] constexpr double bytes_per_second(const physical_axes& over) const noexcept {
    double sum = 0;
    for (std::uint8_t a : over)
      if (axes[a].size > 1) sum += axes[a].bytes_per_second();
    return sum;
  }

  /// Returns the bytes per second of each device between slices: its share of the network of the
  /// host.
  [[nodiscard]] constexpr double network_bytes_per_second() const noexcept {
    return network.one_way() / static_cast<double>(devices_per_host());
  }

  friend constexpr bool operator==(const topology&, const topology&) = default;
};

/// Returns a part of a machine with these sizes, one for each axis; omitted axes have size 1. The
/// rule of the machine decides whether an axis of the part wraps.
[[nodiscard]] constexpr topology slice_of(const topology& machine,
                                          const physical_shape& sizes) noexcept {
  topology part = machine;
  for (int a = 0; a < part.axes.ssize(); ++a) part.axes[a].size = a < sizes.ssize() ? sizes[a] : 1;
  return part;
}

/// Returns the number of hops between two positions.
[[nodiscard]] constexpr index_t hops(const topology& machine, const physical_shape& from,
                                     const physical_shape& to) noexcept {
  index_t sum = 0;
  for (int a = 0; a < machine.axes.ssize(); ++a) sum += machine.axes[a].hops(from[a], to[a]);
  return sum;
}

}  // namespace shardwise
