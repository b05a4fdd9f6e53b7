// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "shardwise/mesh/topology.hpp"

namespace shardwise {

namespace detail {

/// Figures common to all TPU machines: 1 us per hop, 25 GB/s of network per host, 15 GB/s between a
/// chip and its host.
[[nodiscard]] constexpr topology tensor_machine(text_view label, device_kind kind,
                                                const physical_shape& pod, double link,
                                                index_t wrap_multiple,
                                                const physical_shape& host) noexcept {
  topology machine;
  machine.label = short_name(label);
  machine.kind = kind;
  for (index_t size : pod)
    machine.axes.push_back({.size = size, .way = {1e-6, link}, .wrap_multiple = wrap_multiple});
  machine.host = host;
  machine.network = {0, 25e9};
  machine.host_bytes_per_second = 15e9;
  return machine;
}

/// A node of GPUs behind switches. The latencies, 0.6 us inside a node and 2.7 us between nodes,
/// are those of NCCL's cost model.
[[nodiscard]] constexpr topology switched_machine(text_view label, index_t devices, link_desc way,
                                                  double node_egress) noexcept {
  topology machine;
  machine.label = short_name(label);
  machine.kind = device_kind::gpu;
  way.alpha = 0.6e-6;
  machine.axes.push_back({.size = devices, .way = way, .joined = fabric::switched});
  machine.host = {devices};
  machine.network = {2.7e-6, node_egress};
  return machine;
}

/// Returns the machine with the figures of one device set.
[[nodiscard]] constexpr topology with_device(topology machine, double memory_bytes,
                                             double memory_bytes_per_second, double flops_bf16,
                                             double flops_8bit, double flops_4bit = 0) noexcept {
  machine.memory_bytes = memory_bytes;
  machine.memory_bytes_per_second = memory_bytes_per_second;
  machine.flops_bf16 = flops_bf16;
  machine.flops_8bit = flops_8bit;
  machine.flops_4bit = flops_4bit;
  return machine;
}

[[nodiscard]] constexpr topology with_host_link(topology machine,
                                                double bytes_per_second) noexcept {
  machine.host_bytes_per_second = bytes_per_second;
  return machine;
}

}  // namespace detail

/// Full pods and nodes with the figures of the book "How to scale your model" (repository
/// jax-ml/scaling-book); use `slice_of` for parts of them.
///
/// Axes of v4 and v5p wrap in multiples of 4, those of v3, v5e and v6e only at their full length.
namespace machines {

inline constexpr topology tpu_v3 = detail::with_device(
    detail::tensor_machine("tpu_v3", device_kind::tpu_v3, {32, 32}, 100e9, 32, {4, 2}), 32e9,
    0.9e12, 140e12, 140e12);

inline constexpr topology tpu_v4p = detail::with_device(
    detail::tensor_machine("tpu_v4p", device_kind::tpu_v4, {16, 16, 16}, 45e9, 4, {2, 2, 1}), 32e9,
    1.2e12, 275e12, 275e12);

inline constexpr topology tpu_v5p = detail::with_device(
    detail::tensor_machine("tpu_v5p", device_kind::tpu_v5p, {16, 20, 28}, 90e9, 4, {2, 2, 1}), 96e9,
    2.8e12, 459e12, 918e12);

inline constexpr topology tpu_v5e = detail::with_device(
    detail::tensor_machine("tpu_v5e", device_kind::tpu_v5e, {16, 16}, 45e9, 16, {4, 2}), 16e9,
    0.81e12, 197e12, 394e12);

inline constexpr topology tpu_v6e = detail::with_host_link(
    detail::with_device(
        detail::tensor_machine("tpu_v6e", device_kind::tpu_v6e, {16, 16}, 90e9, 16, {4, 2}), 32e9,
        1.6e12, 920e12, 1840e12),
    32e9);

/// 12 links of 25 GB/s; the source gives neither its memory nor the egress of a node.
inline constexpr topology a100 = detail::with_device(
    detail::switched_machine("a100", 8, {0, 25e9, 12}, 0), 0, 2e12, 310e12, 620e12);

inline constexpr topology h100 = detail::with_device(
    detail::switched_machine("h100", 8, {0, 25e9, 18}, 400e9), 80e9, 3.4e12, 990e12, 2000e12);

/// The source gives the 450 GB/s of a device but not its links, and no egress of a node.
inline constexpr topology h200 = detail::with_device(
    detail::switched_machine("h200", 8, {0, 450e9}, 0), 141e9, 4.8e12, 990e12, 2000e12);

inline constexpr topology b200 =
    detail::with_device(detail::switched_machine("b200", 8, {0, 50e9, 18}, 400e9), 192e9, 8e12,
                        2300e12, 4500e12, 9000e12);

/// A rack; the source gives only its links.
inline constexpr topology gb200_nvl72 =
    detail::switched_machine("gb200_nvl72", 72, {0, 900e9}, 3600e9);

/// All of the above.
inline constexpr topology all[] = {tpu_v3, tpu_v4p, tpu_v5p, tpu_v5e, tpu_v6e,
                                   a100,   h100,    h200,    b200,    gb200_nvl72};

/// Returns the machine with this label, or null.
[[nodiscard]] constexpr const topology* find(text_view label) noexcept {
  for (const topology& machine : all)
    if (text_view(machine.label) == label) return &machine;
  return nullptr;
}

}  // namespace machines
}  // namespace shardwise
